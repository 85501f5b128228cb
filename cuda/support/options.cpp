#include "cuda/support/options.h"

#include <algorithm>

namespace trigram {
namespace {

bool is_name_of_nccl(const std::string& name) {
  return name.starts_with("NCCL_") && std::ranges::all_of(name, [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
         });
}

/// Variables of NCCL with their values, which may be strings or integers.
OptionType<std::map<std::string, std::string>> nccl_environment() {
  using Variables = std::map<std::string, std::string>;
  const auto parse = [](const Json& j, const std::string& pointer) {
    if (!j.is_object()) wrong_type(pointer, "an object of NCCL's variables and their values", j);
    Variables variables;
    for (const auto& [name, value] : j.items()) {
      if (!is_name_of_nccl(name))
        throw ConfigError(child(pointer, name), "expected a variable of NCCL, as in NCCL_BUFFSIZE");
      if (!value.is_string() && !value.is_number_integer())
        wrong_type(child(pointer, name), "a string or an integer", value);
      variables[name] = value.is_string() ? value.get<std::string>() : value.dump();
    }
    return variables;
  };
  const auto schema = []() -> Json {
    return {{"type", "object"},
            {"propertyNames", {{"pattern", "^NCCL_[A-Z0-9_]+$"}}},
            {"additionalProperties", {{"type", {"string", "integer"}}}}};
  };
  return dumped_if<Variables>({parse, [](const Variables& v) -> Json { return v; }, schema},
                              [](const Variables& v) { return !v.empty(); });
}

}  // namespace

FieldTable<CudaOptions> cuda_fields() {
  return FieldTable<CudaOptions>{}
      .field("ranks_per_gpu", &CudaOptions::ranks_per_gpu, integer(1, 64),
             "Number of ranks that share a GPU. More than one is for tests: NCCL does not support "
             "it, so the ranks take turns")
      .field(
          "memory", &CudaOptions::memory_bytes, quantity(Dimension::bytes),
          "GPU memory that each rank reserves at start-up for all of its tensors; 0: nine tenths "
          "of the free memory, or all but 3 GiB of it, divided among the ranks of the GPU")
      .field("checked", &CudaOptions::checked, boolean(),
             "Check that both sides of every message agree on it, so that a mismatch is an error "
             "that names both ranks; costs two control messages per message")
      .field("run_ahead", &CudaOptions::run_ahead, integer(1, 1024),
             "Number of message batches of a stream that may be in flight while its control flow "
             "continues")
      .field("environment", &CudaOptions::environment, nccl_environment(),
             "NCCL's variables, such as {\"NCCL_MIN_NCHANNELS\": 4}; they replace those of the "
             "process's environment. All runs of a job must have the same, because NCCL reads them "
             "once");
}

}  // namespace trigram

#include "experiments/traces/trace_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "experiments/traces/chakra_profile.h"
#include "experiments/traces/profiler_profile.h"
#include "experiments/traces/trace_document.h"

namespace trigram {
namespace {

bool is_profiler_event(const Json& value) { return value.is_object() && value.contains("ph"); }

bool is_profiler_trace(const Json& value) {
  return value.is_array() ? !value.empty() && is_profiler_event(value[0])
                          : value.contains("traceEvents");
}

/// PyTorch's own execution trace, from which Chakra's tools make theirs, has no times.
bool is_pytorch_execution_trace(const Json& value) {
  return value.is_object() && value.contains("schema") && value.contains("nodes");
}

bool is_chakra_node(const Json& value) {
  return value.is_object() &&
         (value.contains("type") || value.contains("name") || value.contains("attr"));
}

bool is_chakra_trace(const std::vector<Json>& values) {
  if (values.size() > 1) return is_chakra_node(values[1]);
  if (values[0].is_array()) return !values[0].empty() && is_chakra_node(values[0][0]);
  return values[0].contains("nodes") || is_chakra_node(values[0]);
}

Profile profile_of(const std::vector<Json>& values, const TraceImportOptions& options) {
  const Json& first = values.front();
  if (values.size() == 1 && is_profiler_trace(first)) {
    Profile profile = profile_of_profiler_trace(first, options);
    profile.sources.front() += " of a trace of torch.profiler";
    return profile;
  }
  if (values.size() == 1 && is_pytorch_execution_trace(first))
    throw ConfigError("/schema",
                      "this is PyTorch's execution trace, which has no times; expected the trace "
                      "of torch.profiler (export_chrome_trace)");
  if (!is_chakra_trace(values))
    throw ConfigError("/traceEvents",
                      "expected the list of events of torch.profiler, or nodes of a Chakra "
                      "execution trace");
  Profile profile = profile_of_chakra_trace(values, options);
  profile.sources.emplace_back("a Chakra execution trace");
  return profile;
}

/// Names must not break the lines and cells of a CSV file.
void make_printable(Profile& profile) {
  const auto clean = [](std::string& text, bool is_cell) {
    for (char& c : text)
      if (std::iscntrl(static_cast<unsigned char>(c)) || (is_cell && c == ',')) c = '_';
  };
  clean(profile.name, false);
  clean(profile.measured_on.name, false);
  for (std::string& line : profile.sources) clean(line, false);
  for (std::string& line : profile.assumed) clean(line, false);
  for (ProfileTensor& row : profile.tensors) clean(row.tensor, true);
}

}  // namespace

Profile import_trace(const std::filesystem::path& file, const TraceImportOptions& options) {
  const std::vector<Json> values = read_json_values(file);
  Profile profile;
  try {
    profile = profile_of(values, options);
  } catch (const ConfigError& error) {
    throw error.in_file(file.string());
  } catch (const Json::exception& error) {
    throw ConfigError("", fmt::format("{}: expected a trace: {}", file.string(), error.what()));
  }
  profile.name = options.name.empty() ? file.stem().string() : options.name;
  profile.sources.front() += fmt::format(", {}", file.filename().string());
  if (!options.accelerator.empty()) profile.measured_on.name = options.accelerator;
  make_printable(profile);
  return profile;
}

}  // namespace trigram

#include "core/workloads/registry.h"

#include "core/workloads/profile.h"

namespace trigram {
namespace {

std::string absolute(const std::filesystem::path& base, const std::string& path) {
  return std::filesystem::absolute(base / path).lexically_normal().string();
}

/// Expands "profile:PATH", given as a string or as the "name", into the component "profile".
Json expand_reference(const Json& j, const std::string& pointer) {
  const std::string name = component_name(j, pointer);
  refuse_bare_path(name, pointer);
  const std::string path = path_in_reference(name);
  if (path.empty()) return j;
  Json full = component_options(j);
  full["name"] = "profile";
  full["path"] = path;
  return full;
}

/// Makes relative paths among the options absolute, starting from `base`.
void make_paths_absolute(Json& j, const std::filesystem::path& base) {
  if (!j.is_object()) return;
  for (const char* key : {"path", "data"})
    if (j.contains(key) && j[key].is_string()) j[key] = absolute(base, j[key]);
  for (const char* key : {"priced_as", "profile"})
    if (j.contains(key) && j[key].is_string())
      if (const std::string path = path_in_reference(j[key]); !path.empty())
        j[key] = "profile:" + absolute(base, path);
}

}  // namespace

const std::vector<WorkloadEntry>& workloads() {
  static const std::vector<WorkloadEntry> entries = {
      fashion_mnist_entry(),
      text_entry(),
      torchscript_entry(),
      quadratic_entry(),
      built_in_profile_entry("vgg16", "layer times of VGG16, batch 32 on V100"),
      built_in_profile_entry("resnet50", "layer times of ResNet-50, batch 128 on P100"),
      built_in_profile_entry("bert_large",
                             "layer times of BERT-Large fine-tuning, batch 6 on V100"),
      built_in_profile_entry("bert_base", "layer times of BERT-Base, batch 12 on V100, assumed"),
      built_in_profile_entry("transformer_base",
                             "layer times of Transformer-base, 4,390 tokens on P100"),
      built_in_profile_entry("lstm_alexnet",
                             "a surrogate of BAGUA's LSTM+AlexNet, batch 128 on P100"),
      built_in_profile_entry("gpt2", "layer times of GPT-2 (124M), batch 12 on A100"),
      built_in_profile_entry("llama_1b",
                             "layer times of Llama 3.2 1B, 16,384 tokens on H100, assumed"),
      built_in_profile_entry("llama_8b", "layer times of Llama 3.1 8B, 16,384 tokens on H100"),
      built_in_profile_entry("diloco_1b",
                             "the 1 B model that Streaming DiLoCo simulates, 0.1 s a step"),
      built_in_profile_entry("diloco_10b",
                             "the 10 B model that Streaming DiLoCo simulates, 0.8 s a step"),
      built_in_profile_entry("diloco_100b",
                             "the 100 B model that Streaming DiLoCo simulates, 4.9 s a step"),
      built_in_profile_entry("ddppo",
                             "layer times of DD-PPO's network, 256 frames collected on P100"),
      profile_entry(),
      replay_entry(),
  };
  return entries;
}

Json resolve_workload(const Json& j, const std::string& pointer,
                      const std::filesystem::path& base) {
  Json full = expand_reference(j, pointer);
  make_paths_absolute(full, base);
  if (component_name(full, pointer) == "torchscript" && full.is_object() &&
      full.contains("model") && full["model"].is_string())
    full["model"] = absolute(base, full["model"]);
  return resolve_component(workloads(), "workload", full, pointer);
}

std::unique_ptr<WorkloadFactory> make_workload_factory(const Json& resolved,
                                                       const std::string& pointer) {
  const WorkloadEntry& entry = find_component(workloads(), "workload", resolved, pointer);
  return entry.make(component_options(resolved), pointer);
}

Json workload_schema() {
  Json schema = schema_of_components(workloads());
  schema["anyOf"].push_back({{"type", "string"}, {"pattern", "^profile:.+"}});
  return schema;
}

}  // namespace trigram

#include <ostream>

#include "algorithms/registry.h"
#include "tests/support/training.h"

// The algorithms that tests of all algorithms run, and their properties.
namespace trigram::test {

void PrintTo(const NamedAlgorithm& algorithm, std::ostream* out) { *out << algorithm.name; }

std::vector<NamedAlgorithm> deterministic_algorithms() {
  std::vector<NamedAlgorithm> all;
  auto add = [&](const std::string& name, const char* option, const char* choice) {
    for (bool hierarchical : {false, true}) {
      Json spec = {{"name", name}, {"hierarchical", hierarchical}};
      if (option) spec[option] = choice;
      all.push_back(
          {name + (option ? std::string("_") + choice : "") + (hierarchical ? "_hierarchical" : ""),
           std::move(spec)});
    }
  };
  for (const char* allreduce :
       {"ring", "recursive_doubling", "rabenseifner", "double_tree", "nccl"})
    add("gradient_allreduce", "allreduce", allreduce);
  all.push_back(
      {"gradient_allreduce_channels",
       {{"name", "gradient_allreduce"}, {"allreduce", {{"name", "ring"}, {"channels", 3}}}}});
  all.push_back({"gradient_allreduce_segments",
                 {{"name", "gradient_allreduce"}, {"hierarchical", true}, {"segment", "100kB"}}});
  all.push_back({"parameter_server", {{"name", "parameter_server"}}});
  all.push_back({"parameter_server_two",
                 {{"name", "parameter_server"}, {"servers", 2}, {"partition", "1MB"}}});
  all.push_back({"parameter_server_beside",
                 {{"name", "parameter_server"}, {"servers", 1}, {"placement", "beside"}}});
  all.push_back({"parameter_server_by_need",
                 {{"name", "parameter_server"},
                  {"bucket", "0B"},
                  {"servers", 2},
                  {"partition", "1MB"},
                  {"priority", "need"}}});
  all.push_back({"parameter_server_hierarchical",
                 {{"name", "parameter_server"},
                  {"hierarchical", true},
                  {"partition", "1MB"},
                  {"priority", "need"}}});
  all.push_back({"parameter_server_hashed",
                 {{"name", "parameter_server"},
                  {"bucket", "0B"},
                  {"partition", "1MB"},
                  {"assignment", "djb2"},
                  {"priority", "need"}}});
  all.push_back({"gradient_allreduce_first_bucket",
                 {{"name", "gradient_allreduce"},
                  {"bucket", "1kB"},
                  {"first_bucket", "0B"},
                  {"synchronize", true}}});
  add("bytegrad", nullptr, nullptr);
  add("bytegrad", "phase2", "direct");
  for (const char* format : {"fp16", "bf16"}) add("half_precision_allreduce", "format", format);
  auto add_with = [&](const std::string& name, const char* option, int value) {
    for (bool hierarchical : {false, true})
      all.push_back({name + (hierarchical ? "_hierarchical" : ""),
                     {{"name", name}, {"hierarchical", hierarchical}, {option, value}}});
  };
  add("qsgd", nullptr, nullptr);
  all.push_back(
      {"qsgd_elias",
       {{"name", "qsgd"}, {"codec", {{"name", "qsgd"}, {"levels", 7}, {"coding", "elias"}}}}});
  for (const char* name : {"terngrad", "onebit_sgd", "ef_signsgd", "signsgd_majority"})
    add(name, nullptr, nullptr);
  for (const bool hierarchical : {false, true})
    all.push_back(
        {hierarchical ? "dgc_hierarchical" : "dgc",
         {{"name", "dgc"}, {"density", 0.1}, {"warmup_every", 1}, {"hierarchical", hierarchical}}});
  all.push_back({"topk", {{"name", "topk"}, {"codec", {{"name", "topk"}, {"density", 0.25}}}}});
  all.push_back({"topk_hierarchical",
                 {{"name", "topk"},
                  {"codec", {{"name", "topk"}, {"density", 0.25}}},
                  {"hierarchical", true}}});
  for (const bool hierarchical : {false, true}) {
    const std::string suffix = hierarchical ? "_hierarchical" : "";
    all.push_back(
        {"gtopk" + suffix, {{"name", "gtopk"}, {"density", 0.25}, {"hierarchical", hierarchical}}});
    all.push_back({"oktopk" + suffix,
                   {{"name", "oktopk"},
                    {"density", 0.25},
                    {"threshold_every", 2},
                    {"rebalance_every", 2},
                    {"hierarchical", hierarchical}}});
  }
  add_with("powersgd", "rank", 1);
  add_with("onebit_adam", "warmup_steps", 2);
  for (const bool hierarchical : {false, true})
    all.push_back({hierarchical ? "zeroone_adam_hierarchical" : "zeroone_adam",
                   {{"name", "zeroone_adam"},
                    {"freeze_step", 2},
                    {"variance_doubling", 1},
                    {"local_doubling", 1},
                    {"max_local_steps", 2},
                    {"hierarchical", hierarchical}}});
  add_with("qadam", "warmup_steps", 2);
  add_with("local_sgd", "sync_every", 2);
  add_with("dropcompute", "profile_steps", 0);
  add_with("slowmo", "sync_every", 2);
  add_with("bmuf", "sync_every", 2);
  add_with("diloco", "sync_every", 2);
  add_with("easgd", "sync_every", 2);
  all.push_back(
      {"post_local_sgd", {{"name", "post_local_sgd"}, {"switch_step", 2}, {"sync_every", 2}}});
  all.push_back({"post_local_sgd_hierarchical",
                 {{"name", "post_local_sgd"},
                  {"switch_step", 2},
                  {"sync_every", 2},
                  {"hierarchical", true}}});
  for (const char* mode : {"all", "shift_one", "ring"}) add("decentralized", "mode", mode);
  for (const char* graph : {"torus", "random_matching"}) add("dpsgd", "graph", graph);
  for (const char* graph : {"one_peer_exponential", "star"}) add("sgp", "graph", graph);
  for (const int tau : {1, 2})
    all.push_back({"osgp_" + std::to_string(tau), {{"name", "osgp"}, {"overlap_steps", tau}}});
  all.push_back({"osgp_in_buckets", {{"name", "osgp"}, {"graph", "star"}, {"bucket", "50B"}}});
  add("moshpit", nullptr, nullptr);
  all.push_back({"moshpit_rounds",
                 {{"name", "moshpit"}, {"grid", {2, 4}}, {"rounds", 2}, {"bucket", "50B"}}});
  all.push_back(
      {"swarm_sgd_blocking", {{"name", "swarm_sgd"}, {"mode", "blocking"}, {"local_steps", 1}}});
  add("dpsgd", "graph", "base_k");
  for (const bool hierarchical : {false, true})
    for (const char* name : {"local_sgd", "decentralized", "dpsgd", "sgp"}) {
      Json spec = {{"name", name}, {"bucket", "50B"}, {"hierarchical", hierarchical}};
      if (name == std::string("local_sgd")) spec["sync_every"] = 2;
      all.push_back({name + std::string("_in_buckets") + (hierarchical ? "_hierarchical" : ""),
                     std::move(spec)});
    }
  for (const char* graph : {"shuffled_exponential", "ring"}) add("gossipgrad", "graph", graph);
  for (const char* graph : {"ring", "grid"}) add("dcd_psgd", "graph", graph);
  for (const bool hierarchical : {false, true}) {
    const std::string suffix = hierarchical ? "_in_buckets_hierarchical" : "_in_buckets";
    for (const char* name : {"dcd_psgd", "decentralized"})
      all.push_back({name + std::string("_at_intervals") + suffix,
                     {{"name", name},
                      {"bucket", "50B"},
                      {"communication_interval", 2},
                      {"synchronize", true},
                      {"hierarchical", hierarchical}}});
    for (const char* name : {"diloco", "easgd"})
      all.push_back(
          {name + suffix,
           {{"name", name}, {"bucket", "50B"}, {"sync_every", 2}, {"hierarchical", hierarchical}}});
  }
  add("ecd_psgd", "graph", "ring");
  for (const char* graph : {"ring", "random_matching"}) add("deepsqueeze", "graph", graph);
  add("choco_sgd", "graph", "complete");
  all.push_back({"dcd_psgd_qsgd", {{"name", "dcd_psgd"}, {"codec", "qsgd"}}});
  all.push_back(
      {"choco_sgd_topk", {{"name", "choco_sgd"}, {"codec", {{"name", "topk"}, {"density", 0.1}}}}});
  return all;
}

std::vector<NamedAlgorithm> every_algorithm() {
  auto all = deterministic_algorithms();
  all.push_back({"dropcompute_given",
                 {{"name", "dropcompute"}, {"micro_batches", 3}, {"threshold", "200us"}}});
  all.push_back({"async_model_average_by_steps",
                 {{"name", "async_model_average"}, {"interval_steps", 2}, {"warmup_steps", 1}}});
  all.push_back(
      {"async_model_average_by_time", {{"name", "async_model_average"}, {"interval", "100us"}}});
  all.push_back({"gradient_allreduce_fusion_buffer",
                 {{"name", "gradient_allreduce"},
                  {"bucket", "0B"},
                  {"fusion_buffer", {{"cycle", "100us"}}}}});
  all.push_back({"eager_sgd_solo", {{"name", "eager_sgd"}, {"mode", "solo"}, {"sync_every", 3}}});
  all.push_back({"eager_sgd_majority", {{"name", "eager_sgd"}, {"mode", "majority"}}});
  all.push_back({"wagma", {{"name", "wagma"}, {"tau", 3}, {"group_size", 2}}});
  all.push_back(
      {"wagma_in_buckets", {{"name", "wagma"}, {"tau", 3}, {"group_size", 2}, {"bucket", "50B"}}});
  all.push_back({"wagma_coded", {{"name", "wagma"}, {"codec", "minmax_uint8"}}});
  all.push_back({"async_parameter_server", {{"name", "async_parameter_server"}}});
  all.push_back({"async_parameter_server_coded",
                 {{"name", "async_parameter_server"}, {"servers", 2}, {"codec", "minmax_uint8"}}});
  all.push_back({"ssp", {{"name", "ssp"}, {"staleness", 1}}});
  all.push_back({"ssp_coded",
                 {{"name", "ssp"}, {"servers", 2}, {"codec", "minmax_uint8"}, {"staleness", 1}}});
  all.push_back({"dsgd_aau", {{"name", "dsgd_aau"}}});
  all.push_back({"dsgd_aau_complete", {{"name", "dsgd_aau"}, {"graph", "complete"}}});
  all.push_back({"adpsgd", {{"name", "adpsgd"}}});
  all.push_back({"adpsgd_coded", {{"name", "adpsgd"}, {"codec", "minmax_uint8"}}});
  all.push_back({"swarm_sgd", {{"name", "swarm_sgd"}, {"local_steps", 1}}});
  all.push_back({"adpsgd_ring_sign", {{"name", "adpsgd"}, {"graph", "ring"}, {"codec", "sign"}}});
  return all;
}

std::vector<int> workers_of(const Training& training) {
  const auto& entry = find_component(algorithms(), "algorithm", training.algorithm, "");
  return entry
      .workers(resolve_component(algorithms(), "algorithm", training.algorithm, ""),
               training.cluster.layout())
      .ranks;
}

bool fits(const NamedAlgorithm& algorithm, const Cluster& cluster) {
  const auto& entry = find_component(algorithms(), "algorithm", algorithm.spec, "");
  try {
    entry.check(resolve_component(algorithms(), "algorithm", algorithm.spec, ""), cluster.layout(),
                "");
  } catch (const ConfigError&) {
    return false;
  }
  return true;
}

}  // namespace trigram::test

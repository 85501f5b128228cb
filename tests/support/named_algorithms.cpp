#include <ostream>

#include "algorithms/registry.h"
#include "tests/support/training.h"

// The list of algorithm configurations for tests that cover every algorithm, and functions that
// query them.
namespace trigram::test {

void PrintTo(const NamedAlgorithm& algorithm, std::ostream* out) { *out << algorithm.name; }

namespace {

/// A list of algorithm configurations. Each is named after its "name", with a suffix.
struct NamedAlgorithms {
  void add(const std::string& suffix, const Json& spec) {
    all.push_back({spec.at("name").get<std::string>() + suffix, spec});
  }
  /// Adds two configurations of an algorithm: without and with hierarchical execution.
  void add_both(const std::string& suffix, Json spec) {
    for (const bool hierarchical : {false, true}) {
      spec["hierarchical"] = hierarchical;
      add(suffix + (hierarchical ? "_hierarchical" : ""), spec);
    }
  }
  /// Calls add_both once for each value in `choices` of `option`; the value is the suffix.
  void add_choices(const std::string& name, const std::string& option,
                   const std::vector<std::string>& choices) {
    for (const std::string& choice : choices)
      add_both("_" + choice, {{"name", name}, {option, choice}});
  }

  std::vector<NamedAlgorithm> all;
};

/// One algorithm until a step, and then another.
Json stages(const Json& first, int until, const Json& then) {
  return {{"name", "stages"},
          {"stages", {{{"until", until}, {"algorithm", first}}, {{"algorithm", then}}}}};
}

}  // namespace

std::vector<NamedAlgorithm> deterministic_algorithms() {
  NamedAlgorithms a;
  a.add_choices("gradient_allreduce", "allreduce",
                {"ring", "recursive_doubling", "rabenseifner", "double_tree", "nccl"});
  a.add("_channels",
        {{"name", "gradient_allreduce"}, {"allreduce", {{"name", "ring"}, {"channels", 3}}}});
  a.add("_segments",
        {{"name", "gradient_allreduce"}, {"hierarchical", true}, {"segment", "100kB"}});
  a.add("", {{"name", "parameter_server"}});
  a.add("_two", {{"name", "parameter_server"}, {"servers", 2}, {"partition", "1MB"}});
  a.add("_beside", {{"name", "parameter_server"}, {"servers", 1}, {"placement", "beside"}});
  a.add("_by_need", {{"name", "parameter_server"},
                     {"bucket", "0B"},
                     {"servers", 2},
                     {"partition", "1MB"},
                     {"priority", "need"}});
  a.add("_hierarchical", {{"name", "parameter_server"},
                          {"hierarchical", true},
                          {"partition", "1MB"},
                          {"priority", "need"}});
  a.add("_hashed", {{"name", "parameter_server"},
                    {"bucket", "0B"},
                    {"partition", "1MB"},
                    {"assignment", "djb2"},
                    {"priority", "need"}});
  a.add("_first_bucket", {{"name", "gradient_allreduce"},
                          {"bucket", "1kB"},
                          {"first_bucket", "0B"},
                          {"synchronize", true}});
  a.add_both("", {{"name", "bytegrad"}});
  a.add_choices("bytegrad", "phase2", {"direct"});
  a.add("_by_bandwidth", {{"name", "bytegrad"}, {"phase2", "direct"}, {"shares", "by_bandwidth"}});
  for (const int delay : {0, 2})
    a.add_both("_" + std::to_string(delay), {{"name", "delayed_allreduce"}, {"delay", delay}});
  a.add_both("", {{"name", "hierarchical_local_sgd"}, {"node_every", 1}, {"all_every", 2}});
  a.add("", {{"name", "fedavg"}, {"fraction", 0.5}, {"sync_every", 1}});
  a.add("_all", {{"name", "fedavg"}, {"fraction", 1}, {"sync_every", 2}, {"bucket", "50B"}});
  a.add_choices("half_precision_allreduce", "format", {"fp16", "bf16"});
  a.add_both("", {{"name", "qsgd"}});
  a.add("", {{"name", "zeropp"}});
  a.add("_compensated", {{"name", "zeropp"}, {"error_decay", 0.8}, {"error_reset", 2}});
  a.add("_elias",
        {{"name", "qsgd"}, {"codec", {{"name", "qsgd"}, {"levels", 7}, {"coding", "elias"}}}});
  for (const char* name : {"terngrad", "onebit_sgd", "ef_signsgd", "signsgd_majority"})
    a.add_both("", {{"name", name}});
  a.add_both("", {{"name", "dgc"}, {"density", 0.1}, {"warmup_every", 1}});
  const Json topk = {{"name", "topk"}, {"codec", {{"name", "topk"}, {"density", 0.25}}}};
  a.add("", topk);
  Json topk_hierarchical = topk;
  topk_hierarchical["hierarchical"] = true;
  a.add("_hierarchical", topk_hierarchical);
  for (const bool hierarchical : {false, true}) {
    const std::string suffix = hierarchical ? "_hierarchical" : "";
    a.add(suffix, {{"name", "gtopk"}, {"density", 0.25}, {"hierarchical", hierarchical}});
    a.add(suffix, {{"name", "oktopk"},
                   {"density", 0.25},
                   {"threshold_every", 2},
                   {"rebalance_every", 2},
                   {"hierarchical", hierarchical}});
  }
  a.add_both("", {{"name", "powersgd"}, {"rank", 1}});
  a.add_both("", {{"name", "dion"}});
  for (const double momentum : {0.0, 0.5})
    a.add_both(momentum > 0 ? "_momentum" : "", {{"name", "ef21"},
                                                 {"codec", {{"name", "topk"}, {"density", 0.25}}},
                                                 {"momentum", momentum}});
  a.add_both("", {{"name", "demo"},
                  {"codec", {{"name", "dct_topk"}, {"keep", 1024}, {"mean", "senders"}}}});
  a.add_both("", {{"name", "onebit_adam"}, {"warmup_steps", 2}});
  a.add_both("", {{"name", "zeroone_adam"},
                  {"freeze_step", 2},
                  {"variance_doubling", 1},
                  {"local_doubling", 1},
                  {"max_local_steps", 2}});
  a.add_both("", {{"name", "qadam"}, {"warmup_steps", 2}});
  a.add_both("", {{"name", "local_sgd"}, {"sync_every", 2}});
  a.add_both("", {{"name", "dropcompute"}, {"profile_steps", 0}});
  for (const char* name : {"slowmo", "bmuf", "diloco", "easgd"})
    a.add_both("", {{"name", name}, {"sync_every", 2}});
  a.add_both("", {{"name", "eager_diloco"}, {"sync_every", 2}, {"outer_momentum", 0.5}});
  a.add_both("", {{"name", "co2"}, {"sync_every", 2}, {"clip", 100}});
  a.add_both("", {{"name", "dilocox"},
                  {"sync_every", 2},
                  {"rank", 2},
                  {"outer_momentum", 0.5},
                  {"outer_lr", 0.2}});
  a.add("_coded", {{"name", "dilocox"},
                   {"sync_every", 2},
                   {"rank", 2},
                   {"outer_momentum", 0.5},
                   {"outer_lr", 0.2},
                   {"codec", "int4"}});
  a.add("_coded", {{"name", "diloco"},
                   {"sync_every", 2},
                   {"codec", {{"name", "topk"}, {"density", 0.5}}},
                   {"error_feedback", true}});
  a.add("_ring",
        {{"name", "diloco"}, {"sync_every", 2}, {"codec", "minmax_uint8"}, {"reduction", "ring"}});
  a.add("", {{"name", "decoupled_diloco"}, {"sync_every", 2}, {"quorum", 0}});
  a.add_both("", {{"name", "noloco"}, {"sync_every", 2}});
  a.add_both("", {{"name", "sparseloco"},
                  {"sync_every", 2},
                  {"codec", {{"name", "chunk_topk"}, {"keep", 1024}}}});
  a.add("_store", {{"name", "sparseloco"},
                   {"sync_every", 2},
                   {"codec", {{"name", "chunk_topk"}, {"keep", 1024}}},
                   {"through", "store"}});
  a.add("", {{"name", "sparta"}, {"density", 0.5}});
  a.add("_in_buckets", {{"name", "sparta"}, {"density", 0.5}, {"bucket", "50B"}});
  a.add("_with_outer_steps", {{"name", "sparta"}, {"density", 0.5}, {"sync_every", 2}});
  a.add_both("", {{"name", "streaming_diloco"}, {"sync_every", 2}});
  a.add("_mixed", {{"name", "streaming_diloco"},
                   {"sync_every", 2},
                   {"overlap_steps", 0},
                   {"mixing", 0.5},
                   {"order", "sequential"},
                   {"evaluate", "workers"},
                   {"codec", "fp16"}});
  a.add("", {{"name", "post_local_sgd"}, {"switch_step", 2}, {"sync_every", 2}});
  a.add(
      "_hierarchical",
      {{"name", "post_local_sgd"}, {"switch_step", 2}, {"sync_every", 2}, {"hierarchical", true}});
  a.add("_local_later", stages({{"name", "gradient_allreduce"}, {"overlap", false}}, 2,
                               {{"name", "local_sgd"}, {"sync_every", 2}}));
  a.add("_peers_first",
        stages("dpsgd", 1, {{"name", "parameter_server"}, {"servers", 2}, {"partition", "1MB"}}));
  a.add_choices("decentralized", "mode", {"all", "shift_one", "ring"});
  a.add_choices("dpsgd", "graph", {"torus", "random_matching"});
  a.add_choices("sgp", "graph", {"one_peer_exponential", "star"});
  for (const int tau : {1, 2})
    a.add("_" + std::to_string(tau), {{"name", "osgp"}, {"overlap_steps", tau}});
  a.add("_in_buckets", {{"name", "osgp"}, {"graph", "star"}, {"bucket", "50B"}});
  a.add_both("", {{"name", "moshpit"}});
  a.add("_rounds", {{"name", "moshpit"}, {"grid", {2, 4}}, {"rounds", 2}, {"bucket", "50B"}});
  a.add("_blocking", {{"name", "swarm_sgd"}, {"mode", "blocking"}, {"local_steps", 1}});
  a.add_choices("dpsgd", "graph", {"base_k"});
  for (const bool hierarchical : {false, true})
    for (const char* name : {"local_sgd", "decentralized", "dpsgd", "sgp"}) {
      Json spec = {{"name", name}, {"bucket", "50B"}, {"hierarchical", hierarchical}};
      if (name == std::string("local_sgd")) spec["sync_every"] = 2;
      a.add(hierarchical ? "_in_buckets_hierarchical" : "_in_buckets", spec);
    }
  a.add_choices("gossipgrad", "graph", {"shuffled_exponential", "ring"});
  a.add_choices("dcd_psgd", "graph", {"ring", "grid"});
  for (const bool hierarchical : {false, true}) {
    const std::string suffix = hierarchical ? "_in_buckets_hierarchical" : "_in_buckets";
    for (const char* name : {"dcd_psgd", "decentralized"})
      a.add("_at_intervals" + suffix, {{"name", name},
                                       {"bucket", "50B"},
                                       {"communication_interval", 2},
                                       {"synchronize", true},
                                       {"hierarchical", hierarchical}});
    for (const char* name : {"diloco", "easgd"})
      a.add(suffix,
            {{"name", name}, {"bucket", "50B"}, {"sync_every", 2}, {"hierarchical", hierarchical}});
  }
  a.add_choices("ecd_psgd", "graph", {"ring"});
  a.add_choices("deepsqueeze", "graph", {"ring", "random_matching"});
  a.add_choices("choco_sgd", "graph", {"complete"});
  a.add("_qsgd", {{"name", "dcd_psgd"}, {"codec", "qsgd"}});
  a.add("_topk", {{"name", "choco_sgd"}, {"codec", {{"name", "topk"}, {"density", 0.1}}}});
  return a.all;
}

std::vector<NamedAlgorithm> every_algorithm() {
  NamedAlgorithms a{.all = deterministic_algorithms()};
  a.add("", {{"name", "dedloc"}, {"target_batch", 8}});
  a.add("_delayed", {{"name", "dedloc"}, {"target_batch", 8}, {"delay", 1}, {"codec", "fp16"}});
  a.add("_dealt", {{"name", "dedloc"}, {"target_batch", 8}, {"balance", "throughput"}});
  a.add("_given", {{"name", "dropcompute"}, {"micro_batches", 3}, {"threshold", "200us"}});
  a.add("_by_steps", {{"name", "async_model_average"}, {"interval_steps", 2}, {"warmup_steps", 1}});
  a.add("_by_time", {{"name", "async_model_average"}, {"interval", "100us"}});
  a.add(
      "_fusion_buffer",
      {{"name", "gradient_allreduce"}, {"bucket", "0B"}, {"fusion_buffer", {{"cycle", "100us"}}}});
  a.add("_solo", {{"name", "eager_sgd"}, {"mode", "solo"}, {"sync_every", 3}});
  a.add("_majority", {{"name", "eager_sgd"}, {"mode", "majority"}});
  a.add("", {{"name", "wagma"}, {"tau", 3}, {"group_size", 2}});
  a.add("_in_buckets", {{"name", "wagma"}, {"tau", 3}, {"group_size", 2}, {"bucket", "50B"}});
  a.add("_coded", {{"name", "wagma"}, {"codec", "minmax_uint8"}});
  a.add("", {{"name", "async_parameter_server"}});
  a.add("_coded", {{"name", "async_parameter_server"}, {"servers", 2}, {"codec", "minmax_uint8"}});
  a.add("", {{"name", "ssp"}, {"staleness", 1}});
  a.add("_coded", {{"name", "ssp"}, {"servers", 2}, {"codec", "minmax_uint8"}, {"staleness", 1}});
  a.add("", {{"name", "async_diloco"}, {"sync_every", 2}});
  a.add("_coded", {{"name", "async_diloco"},
                   {"sync_every", 2},
                   {"servers", 2},
                   {"dynamic_steps", true},
                   {"codec", "minmax_uint8"}});
  a.add("", {{"name", "dsgd_aau"}});
  a.add("_complete", {{"name", "dsgd_aau"}, {"graph", "complete"}});
  a.add("", {{"name", "adpsgd"}});
  a.add("_coded", {{"name", "adpsgd"}, {"codec", "minmax_uint8"}});
  a.add("", {{"name", "swarm_sgd"}, {"local_steps", 1}});
  a.add("_asynchronous_first",
        stages({{"name", "wagma"}, {"tau", 3}, {"group_size", 2}}, 3, "gradient_allreduce"));
  a.add("_asynchronous_last", stages("gradient_allreduce", 2, {{"name", "ssp"}, {"staleness", 1}}));
  a.add("_ring_sign", {{"name", "adpsgd"}, {"graph", "ring"}, {"codec", "sign"}});
  return a.all;
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

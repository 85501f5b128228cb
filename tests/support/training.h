#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "core/config/option_type.h"
#include "core/metering/meter.h"
#include "netmodels/cluster.h"
#include "runtime/sim/sim_runtime.h"

namespace trigram::test {

/// One training run, described by the names that configurations use.
struct Training {
  Json algorithm;  // "name" or {"name": ..., options}
  Json workload = {{"name", "quadratic"}, {"dimension", 64}, {"noise", 0.1}};
  Cluster cluster;
  long steps = 3;
  Json optimizer = {{"name", "sgd"}, {"lr", 0.05}, {"momentum", 0.9}};
  std::uint64_t seed = 7;
  std::string world = "sim";
  SimOptions sim = {};  // options of the simulated world
  bool events = false;  // true: collect the trace
  /// True: each step ends with a wait for everything that it has issued, and its times are then
  /// added up, as in `trigram run`. False: the meter keeps all events until the end.
  bool reports_steps = false;
  /// True: only the gradients are computed on the host (host_gradients.h).
  bool host_gradients = false;
};

/// The result of a run. Vectors are indexed by rank; the weights of a rank that only serves have no
/// meaning.
struct Trained {
  std::vector<double> ended_s;  // in seconds of the world's clock
  std::vector<Counters> counters;
  std::vector<std::vector<Event>> events;   // in the order of reporting
  std::vector<std::vector<float>> weights;  // empty for phantoms
  std::vector<std::size_t> buckets;         // priced elements of each bucket
  std::string notes;                        // the runtime's notes, as JSON
  double cpu_s = 0;      // CPU time of the process, if the run had a process of its own
  long max_rss_kib = 0;  // memory of that process

  /// The time at which the last rank ended.
  double seconds() const;
  /// Priced elements of all buckets.
  std::size_t model_priced_numel() const;
};

/// Trains in a child process if the world is simulated, and in this process otherwise. In a child
/// process an exception of the run fails the calling test, and the result is empty. In this process
/// the exception propagates.
Trained train(const Training& training);

/// Trains in this process in any world.
Trained train_here(const Training& training);

/// True if a launcher has started this process as one rank of a world of processes.
bool launched();

/// A cluster whose links are so slow that communication matters.
Cluster small_cluster(int nodes, int workers_per_node = 1);

/// An algorithm and its options, with a readable name for test cases.
struct NamedAlgorithm {
  std::string name;
  Json spec;
};
/// For GoogleTest: prints an algorithm by its name, and names a test after it.
void PrintTo(const NamedAlgorithm& algorithm, std::ostream* out);
struct TestName {
  template <class Info>
  std::string operator()(const Info& info) const {
    return info.param.name;
  }
};
/// The ranks that compute gradients.
std::vector<int> workers_of(const Training& training);
/// True if the algorithm can run on the cluster.
bool fits(const NamedAlgorithm& algorithm, const Cluster& cluster);
/// Every algorithm and mode, flat and, if supported, hierarchical.
std::vector<NamedAlgorithm> every_algorithm();
/// The algorithms whose results do not depend on timing.
std::vector<NamedAlgorithm> deterministic_algorithms();
/// True if TRIGRAM_SHORT_TRAINING is set. Runs should then be few and short, for example on a GPU
/// that ranks share, where every message waits for the time slices of all ranks.
bool short_training();

/// Serialises the result that a child process returns, bitwise.
std::string to_bytes(const Trained& trained);
Trained trained_from_bytes(const std::string& bytes);

}  // namespace trigram::test

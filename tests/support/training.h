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

/// One training run, by the names that configurations use.
struct Training {
  Json algorithm;  // "name" or {"name": ..., options}
  Json workload = {{"name", "quadratic"}, {"dimension", 64}, {"noise", 0.1}};
  Cluster cluster;
  long steps = 3;
  Json optimizer = {{"name", "sgd"}, {"lr", 0.05}, {"momentum", 0.9}};
  std::uint64_t seed = 7;
  std::string world = "sim";
  SimOptions sim = {};  // of that world
  bool events = false;  // collect the trace
  /// At the end of each step, wait for what it has issued and add up what it took, as `trigram run`
  /// does; what is not added up is kept.
  bool reports_steps = false;
  /// Compute the gradients on the host, and nothing but them (host_gradients.h).
  bool host_gradients = false;
};

/// What is left of it. Vectors are by rank; the weights of one that only serves are no result.
struct Trained {
  std::vector<double> ended_s;  // by the world's clock
  std::vector<Counters> counters;
  std::vector<std::vector<Event>> events;   // in the order in which they were reported
  std::vector<std::vector<float>> weights;  // empty for phantoms
  std::vector<std::size_t> buckets;         // priced elements of each bucket
  std::string notes;                        // of the runtime, as JSON
  double cpu_s = 0;                         // of the process, likewise
  long max_rss_kib = 0;                     // of the process, when it ran in one of its own

  /// When the last rank ended.
  double seconds() const;
  /// Priced elements of all buckets.
  std::size_t model() const;
};

/// Trains in a child process when the world is simulated, in this one otherwise. What the run
/// throws fails the calling test in the first case (and nothing comes back), and is thrown in the
/// second.
Trained train(const Training& training);

/// The same run, in this process.
Trained train_here(const Training& training);

/// Whether a launcher has started this process as one rank of a world of processes.
bool launched();

/// A cluster whose links are slow enough for communication to matter.
Cluster small_cluster(int nodes, int workers_per_node = 1);

/// An algorithm with its mode, by a name for people and test cases.
struct NamedAlgorithm {
  std::string name;
  Json spec;
};
/// For GoogleTest: prints an algorithm as its name, and names a test after it.
void PrintTo(const NamedAlgorithm& algorithm, std::ostream* out);
struct TestName {
  template <class Info>
  std::string operator()(const Info& info) const {
    return info.param.name;
  }
};
/// The ranks that compute gradients.
std::vector<int> workers_of(const Training& training);
/// Whether an algorithm can run on a cluster.
bool fits(const NamedAlgorithm& algorithm, const Cluster& cluster);
/// Every algorithm and mode, flat, and hierarchical where that applies.
std::vector<NamedAlgorithm> every_algorithm();
/// Those whose result does not depend on timing.
std::vector<NamedAlgorithm> deterministic_algorithms();
/// Whether TRIGRAM_SHORT_TRAINING is set: trainings of this job are to be few and short, as on a
/// GPU that ranks share, where every message waits for the turns of all of them.
bool short_training();

}  // namespace trigram::test

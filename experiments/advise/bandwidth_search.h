#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "experiments/advise/network_scale.h"
#include "experiments/config/plan.h"
#include "experiments/sweep/sweep_runner.h"

namespace trigram {

/// Bandwidths with a constant ratio, in bytes/s.
struct BandwidthGrid {
  double least_Bps = 0, most_Bps = 0;
  std::size_t points = 2;  // at least 2
  double at(std::size_t i) const;
};

/// The least bandwidth between nodes that gives each run of an experiment's sweep a compute
/// utilisation ("compute_utilisation" of a summary): the share of the time in which workers
/// compute. The bandwidth is searched on a grid by bisection, which assumes that a faster network
/// never lowers the utilisation.
class BandwidthSearch {
 public:
  struct Options {
    std::string config;
    std::vector<std::string> settings;
    std::vector<double> utilisations;  // ascending, above 0 and below 1
    BandwidthGrid grid;
    SweepRunner::Options runner;
    bool quiet = false;
  };
  /// Thrown if there is no answer. `code` is the exit code.
  struct Stopped {
    int code;
  };
  /// The bandwidths that one point of the sweep needs.
  struct Need {
    Json coordinates;  // its point in the sweep
    /// By utilisation: the index of the least bandwidth of the grid; empty if none is enough.
    std::vector<std::optional<std::size_t>> at;
    Json manifest;        // of one of its runs
    std::string why_not;  // why its runs do not show what it needs, or empty (why_not_compared)
  };

  /// Plans the experiment. Throws ConfigError if it is not simulated.
  explicit BandwidthSearch(Options options);
  /// Makes the runs, in the results folder "NAME-bandwidth". Throws Stopped if one fails.
  std::vector<Need> find();

 private:
  struct Search;
  Plan plan_at(std::size_t point) const;
  void measure(std::size_t point, const std::vector<std::size_t>& runs,
               std::vector<Search>& searches) const;

  Options options_;
  Plan described_;
};

}  // namespace trigram

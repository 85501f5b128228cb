#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "experiments/advise/contest.h"
#include "experiments/advise/flip_search.h"
#include "experiments/advise/network_scale.h"
#include "experiments/cli/sweep_runner.h"

namespace trigram {

/// A candidate on the network as it is.
struct Standing {
  std::size_t candidate = 0;
  double cost_s = 0;  // infinite: it failed, or never reached the accuracy
  std::string id;     // of its run
  Json summary;       // of its run; null when it failed
};

/// How far the network was changed in one way, and where the order flips.
struct Outlook {
  Dimension of = Dimension::bandwidth;  // or duration: of the latency
  bool more = false;                    // of it
  double limit = 1;                     // the furthest factor
  std::optional<Flip> flip;
};

struct Advice {
  std::vector<Standing> standings;  // the best first
  std::vector<Outlook> outlooks;
};

/// Makes the runs that an answer needs, those that are not there yet, and keeps all of them.
class Advisor {
 public:
  struct Options {
    SweepRunner::Options runner;
    double range = 64;  // how far bandwidth and latency are changed
    bool quiet = false;
  };
  /// What kept it from an answer, as an exit code.
  struct Stopped {
    int code;
  };
  Advisor(const Contest& contest, Options options);

  /// Throws Stopped when it is interrupted, or when no candidate has a result.
  Advice advise();

  /// Whether some run failed, so that the answer is without it.
  bool failed() const { return failed_; }
  const NetworkScale& scale(Dimension of) const {
    return of == Dimension::bandwidth ? bandwidth_ : latency_;
  }
  /// Where all runs are.
  std::filesystem::path results() const { return results_; }

 private:
  struct Place {  // factors on the network as it is
    double bandwidth = 1, latency = 1;
  };
  std::vector<Standing> stand(const Place& place, const std::vector<std::size_t>& candidates);
  void make(const Plan& plan, const Place& place);
  Outlook look(Dimension of, bool more, std::size_t winner);
  double unchanged(Dimension of) const { return scale(of).from_zero() ? 0 : 1; }

  const Contest& contest_;
  const Options options_;
  const NetworkScale bandwidth_, latency_;
  std::filesystem::path results_;
  std::set<std::string> tried_;  // ids of runs that are not made again
  bool failed_ = false;
};

}  // namespace trigram

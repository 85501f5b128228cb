#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/membership.h"
#include "netmodels/failures.h"
#include "netmodels/heartbeats.h"

namespace trigram {

/// The comings and goings of workers that a description of failures plans, for algorithms that
/// carry on, and what became of them. Times of a rank begin with its first step.
class PlannedMembership final : public Membership {
 public:
  /// An absence that has taken place. Times are in seconds from the rank's first step.
  struct Record {
    int rank = 0;
    Absence::Kind kind = Absence::crash;
    double stopped_s = 0;
    long stopped_step = 0;  // the first step that was not made
    int peer = -1;          // whose state the next worker has got; -1: none came back in time
    double healed_s = 0;
    long healed_step = 0;  // its first step
  };

  /// `failures` must outlive the object.
  PlannedMembership(const Failures& failures, std::int64_t nodes, std::int64_t workers_per_node);

  bool begins(int rank) const override;
  std::optional<Absence> absence(int rank, double now_s) override;
  void view_changed(long epoch, int members) override;
  void stopped(int rank, long step, double now_s) override;
  void healed(int rank, int peer, long step, double now_s) override;
  void late(int rank, long steps) override;

  /// Learns of heartbeats; null without them.
  HeartbeatDetector* detector() { return detector_ ? &*detector_ : nullptr; }
  const HeartbeatDetector* detector() const { return detector_ ? &*detector_ : nullptr; }

  // What happened, once the run is over.

  /// In the order of ranks and, for each rank, of time.
  std::vector<Record> records() const;
  /// The number of views of the members after the first one, and the fewest members of a view.
  long epochs() const { return epochs_; }
  int fewest() const { return fewest_; }
  /// How often a round closed without a worker that was there.
  long late_rounds() const { return late_rounds_; }
  /// The steps that workers left out because they were late.
  long late_steps() const { return late_steps_; }

 private:
  struct Rank {
    bool begun = false;
    double origin_s = 0;  // of its first step, on the clock of its stream
    std::unique_ptr<FailureSequence> sequence;
    Failure next;                        // that concerns this rank
    Absence::Kind kind = Absence::late;  // of the present or last absence
    std::vector<Record> records;
  };
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  bool concerns(const Failure& failure, int rank) const;
  /// The next failure of a rank, freezes aside, that is not before `from_s`.
  void advance(int rank, double from_s);
  double next_join_s(int rank, double from_s) const;
  Absence begin(int rank, double time_s);
  double noticed_after_s(int rank, double now_s) const;
  bool suspects(int rank, double now_s) const;

  const Failures& failures_;
  const std::int64_t workers_per_node_;
  std::mutex mutex_;  // the worker threads report to one object
  std::vector<Rank> ranks_;
  std::optional<HeartbeatDetector> detector_;
  long epochs_ = 0, late_rounds_ = 0, late_steps_ = 0;
  int fewest_;
};

}  // namespace trigram

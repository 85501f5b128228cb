#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "core/optimizer.h"
#include "core/workload.h"

namespace trigram {

/// The training iterations 0 .. count-1, as a range. Each `++` ends an iteration and reports it.
class Steps {
 public:
  struct Hooks {
    std::function<void(long)> begin;  // called before iteration t
    std::function<void(long)> end;    // called after it
  };
  explicit Steps(long count, Hooks hooks = {}) : count_(count), hooks_(std::move(hooks)) {}

  struct End {};
  class Iterator {
   public:
    explicit Iterator(Steps& steps) : steps_(steps) { steps_.start(); }
    long operator*() const { return steps_.current(); }
    Iterator& operator++() {
      steps_.finish();
      steps_.start();
      return *this;
    }
    bool operator!=(End) const { return steps_.current() < steps_.count_; }

   private:
    Steps& steps_;
  };
  Iterator begin() { return Iterator(*this); }
  End end() { return {}; }

  /// How many there are. It can become less while the run goes on, but not in the last iteration.
  long count() const { return count_; }
  /// Ends the run after iteration `count - 1`, which has not begun on any rank. Called by the
  /// hooks.
  void end_after(long count) { count_ = count; }
  /// The iteration that the main stream is in; safe to ask from other streams of the rank.
  long current() const { return current_.load(std::memory_order_relaxed); }
  /// Records that an update was `steps` iterations old when it was applied. Any stream may call it.
  void record_staleness(long steps);
  struct Staleness {
    long updates = 0, sum = 0, max = 0;
  };
  /// What was recorded since the last call.
  Staleness take_staleness();
  /// Records that the iteration took so many mini-batches of the rank; one if nothing is recorded.
  void record_batches(long batches) { batches_ = batches; }
  /// What was recorded since the last call, or one.
  long take_batches() { return std::exchange(batches_, 1); }

 private:
  void start() {
    if (current() < count_ && hooks_.begin) hooks_.begin(current());
  }
  void finish() {
    if (hooks_.end) hooks_.end(current());
    current_.fetch_add(1, std::memory_order_relaxed);
  }
  std::atomic<long> count_;
  Hooks hooks_;
  std::atomic<long> current_ = 0;
  std::atomic<long> stale_updates_ = 0, stale_sum_ = 0, stale_max_ = 0;
  long batches_ = 1;
};

/// The execution options of BAGUA (arXiv 2107.01499, section 3): overlap, fusion, hierarchy.
struct Execution {
  bool overlap = true;                   // O: exchange a bucket as soon as it is ready
  std::size_t bucket_bytes = 10u << 20;  // F: fuse tensors into buckets; 0: one bucket per tensor
  std::optional<std::size_t> first_bucket_bytes = {};  // F: of the first bucket, where it differs
  std::optional<std::size_t> model_bucket_bytes = {};  // F of methods that exchange weights, if any
  bool hierarchical = false;      // H: reduce in the node, exchange between leaders
  std::size_t segment_bytes = 0;  // inside a node longer tensors go in such pieces; 0: none does
  bool synchronize = false;       // the host waits for each exchange, then sends the next
  BucketSizes buckets() const {
    return {model_bucket_bytes.value_or(bucket_bytes), first_bucket_bytes};
  }
};

struct Run {
  Workload& workload;
  Optimizer& optimizer;
  Steps& steps;
  Execution execution;
  std::uint64_t seed = 0;  // of what algorithms draw, the same on all ranks
};

/// When what the ranks of an algorithm do repeats itself: the same computation, the same messages.
struct Cycle {
  long from = 0;   // the first step that is one of many alike, such as the first after a warm-up
  long steps = 1;  // after so many steps it begins anew
  double clock_s = 0;  // what comes at multiples of this time does so too, if a cycle is a multiple
  bool exact = true;  // false: time or chance decide the rest, so cycles are alike only in the mean
};

/// When the ranks of an algorithm exchange, and when their work repeats itself.
struct ExchangeSchedule {
  /// Empty where no number of steps is known after which everything begins anew, as when time or
  /// chance decide what is sent. Times per step are means over whole cycles. Timing runs may end
  /// early where a cycle is exact, so an exact cycle must hold for all streams of all ranks.
  std::optional<Cycle> cycle = Cycle{};
  /// Steps from one exchange between ranks to the next, or their mean, where steps decide when
  /// ranks exchange: a shorter run leaves out what the algorithm costs. 1 if every step exchanges.
  long every = 1;
  /// True where time alone decides when ranks exchange, so that a run may end before they have.
  /// Such an algorithm records each completed exchange as an update (Steps::record_staleness).
  bool by_time = false;
  /// For asynchronous algorithms: true where no rank gets ahead of another without a bound, so that
  /// all ranks progress at the pace of the slowest one in the long run.
  bool bounds_lead = false;
};

/// A data-parallel training algorithm with its options. `train` is the training loop of one rank
/// and runs on the rank's main stream, so an algorithm's file reads like the paper's pseudo-code.
struct Algorithm {
  std::function<void(Context, Run&)> train;
  std::function<ExchangeSchedule(const Layout&)> schedule;
};

}  // namespace trigram

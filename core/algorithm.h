#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "core/membership.h"
#include "core/optimizer.h"
#include "core/training_state.h"
#include "core/workload.h"

namespace trigram {

/// Training iterations up to count-1, as a range. Each `++` ends an iteration and reports it. An
/// iteration begins once, when `begin` or `++` reaches it. The first iteration has number 0, unless
/// the run continues a stopped run or is trained in parts.
class Steps {
 public:
  struct Hooks {
    std::function<void(long)> begin;  // called before iteration t
    std::function<void(long)> end;    // called after iteration t
  };
  explicit Steps(long count, Hooks hooks = {}) : count_(count), hooks_(std::move(hooks)) {}
  /// The iterations first .. first + count - 1 of `whole`, numbered from 0, beginning at the
  /// current iteration of `whole`. They are also iterations of `whole`, which reports them and
  /// receives everything that is recorded. If `whole` ends early, so do they. `whole` must outlive
  /// this object.
  Steps(Steps& whole, long first, long count)
      : count_(count), whole_(&whole), first_(first), current_(whole.current() - first) {}
  /// The iterations of `whole` from its current one to `end` - 1, with the same numbers. They are a
  /// part of a run, so that `last_of_run` tells the end of the run from the end of the part.
  static Steps part(Steps& whole, long end) { return Steps(whole, end, Part{}); }

  struct End {};
  class Iterator {
   public:
    explicit Iterator(Steps& steps) : steps_(steps) { steps_.start(); }
    long operator*() const { return steps_.current(); }
    Iterator& operator++() {
      steps_.finish();
      steps_.leave_out();
      steps_.start();
      return *this;
    }
    bool operator!=(End) const { return steps_.current() < steps_.count(); }

   private:
    Steps& steps_;
  };
  Iterator begin() { return Iterator(*this); }
  End end() { return {}; }

  /// The number of iterations. It can shrink during the run, but not during the last iteration.
  long count() const {
    return whole_ ? std::clamp(whole_->count() - first_, 0L, count_.load()) : count_.load();
  }
  /// True for the last iteration of the run, as known so far, or of the stage if these iterations
  /// are a stage of a run. False for an iteration that only ends a part, after which the run goes
  /// on.
  bool last_of_run(long t) const { return t + 1 == run_count(); }
  /// The number of iterations of the run or stage, of which these iterations may be a part.
  long run_count() const {
    if (!whole_) return count();
    const long rest = whole_->run_count() - first_;
    return is_part_ ? rest : std::clamp(rest, 0L, count_.load());
  }
  /// Makes `first` the first iteration. Called before any iteration begins.
  void begin_at(long first) { current_ = first; }
  /// Ends the run after iteration `count - 1`. No rank may have begun iteration `count`. Called by
  /// hooks.
  void end_after(long count) { count_ = count; }
  /// The current iteration of the main stream; safe to call from other streams of the rank.
  long current() const { return current_.load(std::memory_order_relaxed); }
  /// Makes evaluations use `weights`, which have the layout of the workload's weights, until the
  /// next call; empty: the workload's weights. For methods whose result is not the model that
  /// workers compute with.
  void evaluate(std::optional<Tensor> weights) {
    if (whole_) return whole_->evaluate(std::move(weights));
    evaluated_ = std::move(weights);
  }
  const std::optional<Tensor>& evaluated() const { return evaluated_; }
  /// Records that an update was `steps` iterations old when it was applied. Any stream may call it.
  void record_staleness(long steps) {
    if (whole_) return whole_->record_staleness(steps);
    stale_updates_.fetch_add(1, std::memory_order_relaxed);
    stale_sum_.fetch_add(steps, std::memory_order_relaxed);
    long seen = stale_max_.load(std::memory_order_relaxed);
    while (steps > seen && !stale_max_.compare_exchange_weak(seen, steps)) {
    }
  }
  struct Staleness {
    long updates = 0, sum = 0, max = 0;
  };
  /// Returns what was recorded since the last call, and resets it.
  Staleness take_staleness() {
    return {stale_updates_.exchange(0), stale_sum_.exchange(0), stale_max_.exchange(0)};
  }
  /// Records that the worker of this rank is absent in the current iteration.
  void record_absence() { (whole_ ? whole_->absent_ : absent_) = true; }
  /// Returns true if an absence was recorded since the last call.
  bool take_absence() { return std::exchange(absent_, false); }
  /// Makes `step`, or the end of the run if that is earlier, the next iteration. The iterations
  /// between the current iteration and `step` end without having begun, and the worker counts as
  /// absent in them.
  void continue_with(long step) { next_ = step; }
  /// Records that the iteration used `batches` mini-batches of this rank instead of one; 0 if the
  /// rank computed nothing.
  void record_batches(long batches) { (whole_ ? whole_->batches_ : batches_) = batches; }
  /// Returns the number recorded since the last call, or 1, and resets it.
  long take_batches() { return std::exchange(batches_, 1); }

 private:
  struct Part {};
  Steps(Steps& whole, long end, Part)
      : count_(end), whole_(&whole), is_part_(true), current_(whole.current()) {}
  void start() {
    if (current() >= count() || begun_ == current()) return;
    begun_ = current();
    if (whole_) whole_->start();
    else if (hooks_.begin) hooks_.begin(current());
  }
  void leave_out() {
    for (; current() < std::min(next_, count()); finish()) record_absence();
  }
  void finish() {
    if (whole_) whole_->finish();
    else if (hooks_.end) hooks_.end(current());
    current_.fetch_add(1, std::memory_order_relaxed);
  }
  std::atomic<long> count_;
  Hooks hooks_;
  Steps* whole_ = nullptr;  // null: these iterations are not part of others
  long first_ = 0;          // the iteration of `whole_` that is iteration 0 here
  bool is_part_ = false;
  long begun_ = -1;  // the latest iteration that has begun
  std::atomic<long> current_ = 0;
  std::atomic<long> stale_updates_ = 0, stale_sum_ = 0, stale_max_ = 0;
  long batches_ = 1;
  long next_ = 0;  // continue_with
  bool absent_ = false;
  std::optional<Tensor> evaluated_;
};

/// The execution options of BAGUA (arXiv 2107.01499, section 3): overlap, fusion, hierarchy.
struct Execution {
  bool overlap = true;                   // O: exchange a bucket as soon as it is ready
  std::size_t bucket_bytes = 10u << 20;  // F: fuse tensors into buckets; 0: one bucket per tensor
  std::optional<std::size_t> first_bucket_bytes = {};  // F: size of the first bucket, if it differs
  std::optional<std::size_t> model_bucket_bytes = {};  // F: for algorithms that exchange weights
  bool hierarchical = false;  // H: reduce in the node, exchange between leaders
  /// Inside a node, longer tensors are reduced and broadcast in segments of this size along a chain
  /// of workers; 0: all tensors use binomial trees.
  std::size_t segment_bytes = 0;
  bool synchronize = false;  // the host waits for each exchange before it launches the next
  BucketSizes buckets() const {
    return {model_bucket_bytes.value_or(bucket_bytes), first_bucket_bytes};
  }
};

/// The arguments of a training loop, besides its Context.
struct Run {
  Workload& workload;
  Optimizer& optimizer;
  Steps& steps;
  Execution execution;
  std::uint64_t seed = 0;  // seeds the random choices of algorithms; the same on all ranks
  TrainingState state = {};
  /// Null if the workers of all ranks are present in all steps, or if the run restarts when a
  /// worker fails.
  Membership* membership = nullptr;
};

/// The period after which an algorithm's ranks repeat the same computation and the same messages.
struct Cycle {
  long first_step = 0;  // where the periodic part begins, such as the first step after a warm-up
  long steps = 1;       // the period, in steps
  double clock_s = 0;   // if > 0, a cycle repeats only if its duration is a multiple of this
  bool exact = true;    // false: time or chance matter too, so only the means over cycles are equal
};

/// When the ranks of an algorithm exchange, and when their work repeats.
struct ExchangeSchedule {
  /// The algorithm's period; empty if its behaviour never repeats, for example because time or
  /// chance decide which messages are sent. Times per step are means over whole cycles. If the
  /// cycle is exact, a timing run may end early, so an exact cycle must hold for all streams of all
  /// ranks.
  std::optional<Cycle> cycle = Cycle{};
  /// Steps from one exchange between ranks to the next, or their mean, if the step number decides
  /// when ranks exchange; 1 if every step exchanges something. A run of fewer steps may contain no
  /// exchange.
  long interval_steps = 1;
  /// True if time alone decides when ranks exchange, so that a run may end before its first
  /// exchange. Such an algorithm records each completed exchange as an update
  /// (Steps::record_staleness).
  bool by_time = false;
  /// For an asynchronous algorithm: true if no rank can get further ahead of another than a fixed
  /// number of steps, so that in the long run all ranks go at the pace of the slowest.
  bool bounds_lead = false;
};

/// A data-parallel training algorithm with its options. `train` is the training loop of one rank
/// and runs on the rank's main stream. It runs the iterations of Run::steps. If these are a part of
/// the run, `train` begins with the state that the previous part left in Run::state, and ends with
/// no message in flight.
struct Algorithm {
  std::function<void(Context, Run&)> train;
  std::function<ExchangeSchedule(const Layout&)> schedule;
};

}  // namespace trigram

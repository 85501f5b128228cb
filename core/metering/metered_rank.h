#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "core/device/null_device.h"
#include "core/metering/arrived_traffic.h"
#include "core/metering/meter.h"
#include "core/stream.h"

namespace trigram {

/// A counter with one writer (its stream) and any number of readers.
template <class T>
class Tally {
 public:
  void add(T amount) {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  void reset() { value_.store(0, std::memory_order_relaxed); }
  T get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<T> value_ = 0;
};

/// The counters of one stream. They are aligned to a cache line, because thousands of simulated
/// ranks compete for the cache.
struct alignas(64) StreamTally {
  Tally<double> transfer_s, wait_s, sleep_s;
  Tally<std::uint64_t> bytes_intra, bytes_inter, messages_intra, messages_inter, bytes_egress;
  // In a second cache line, which is not touched if traffic has no price.
  Tally<double> egress_usd;

  void count(const MessageCount& sent) {
    (sent.intra ? messages_intra : messages_inter).add(sent.messages);
    (sent.intra ? bytes_intra : bytes_inter).add(sent.bytes);
    if (sent.egress) bytes_egress.add(sent.bytes);
    if (sent.egress_usd > 0) egress_usd.add(sent.egress_usd);
  }

  void reset() {
    for (Tally<double>* tally : {&transfer_s, &wait_s, &sleep_s, &egress_usd}) tally->reset();
    for (Tally<std::uint64_t>* tally :
         {&bytes_intra, &bytes_inter, &messages_intra, &messages_inter, &bytes_egress})
      tally->reset();
  }
};

/// State shared by the metered streams of one rank. It outlives every task of the rank.
class alignas(64) MeteredRank {
 public:
  MeteredRank(int rank, const Layout* layout, MeterOptions options)
      : rank_(rank),
        phantom_(options.phantom),
        layout_(layout),
        arrived_(options.arrived),
        tariff_(options.tariff),
        sink_(std::move(options.sink)),
        machine_(options.machine),
        steps_(options.steps) {}

  /// Adds the tally of a new stream; the first call is for the main stream.
  StreamTally& add_stream() {
    std::lock_guard guard(mutex_);
    return tallies_.emplace_back();
  }
  Counters totals();
  /// Sets the tallies of all streams to 0. Nothing may be in progress on them.
  void reset();
  /// Calls `then(begin, end)` once both times are known, during a later call of `totals`.
  void when_known(std::unique_ptr<EventTime> begin, std::unique_ptr<EventTime> end,
                  std::function<void(double, double)> then);
  /// Seconds that the main stream has spent waiting, transferring and sleeping.
  double main_blocked_s();

  int rank() const { return rank_; }
  /// The count of messages from one rank to another.
  MessageCount message_count(int from, int to, std::uint64_t messages, std::uint64_t bytes) const {
    MessageCount count{layout_->same_node(from, to), messages, bytes};
    if (!tariff_) return count;
    count.egress = tariff_->leaves_zone(from, to);
    count.egress_usd = tariff_->usd(from, to, bytes);
    return count;
  }
  bool phantom() const { return phantom_; }
  NullDevice& null_device() { return null_device_; }
  const EventSink& sink() const { return sink_; }
  /// Records that this rank has received a message.
  void record_received(int from, std::uint64_t bytes) {
    if (arrived_) arrived_->add({from, rank_, message_count(from, rank_, 1, bytes)});
  }
  /// Counts the messages that this rank sends in a collective that is priced as a whole and that it
  /// ends at `end_s`; see ArrivedTraffic::add for `id` and `members`.
  void record_sent(StreamTally& tally, std::uint64_t id, std::size_t members, double end_s,
                   std::span<const ArrivedTraffic::Messages> sent);
  double compute_factor() const {
    if (!machine_) return 1;
    return machine_->compute_factor(rank_, steps_ ? steps_->current() : 0);
  }

 private:
  struct Pending {
    std::unique_ptr<EventTime> begin, end;
    std::function<void(double, double)> then;
  };
  void report_known();

  // Members that every message uses come first, so that they lie in one cache line.
  const int rank_;
  const bool phantom_;
  const Layout* const layout_;
  ArrivedTraffic* const arrived_;
  const EgressTariff* const tariff_;
  const EventSink sink_;
  const MachineModel* const machine_;
  const Steps* const steps_;
  NullDevice null_device_;
  mutable std::mutex mutex_;  // held only to extend or traverse the list, never across an operation
  std::deque<StreamTally> tallies_;
  std::mutex pending_mutex_;  // held while `report_known` writes to the tallies of all streams
  std::deque<Pending> pending_;
};

// These two functions are not part of `timed`, so that their variables are not on the stack during
// every transfer: thousands of simulated ranks compete for the cache.

template <class MakeThen>
[[gnu::noinline]] void call_then(MakeThen& make_then, double begin_s, double end_s) {
  make_then()(begin_s, end_s);
}

template <class Operation, class MakeThen>
[[gnu::noinline]] void timed_later(Stream& clock, MeteredRank& rank,
                                   std::unique_ptr<EventTime> begin, Operation& operation,
                                   MakeThen& make_then) {
  operation();
  rank.when_known(std::move(begin), clock.mark(), make_then());
}

/// Runs `operation` on a stream and then calls `make_then()`, which returns a function. That
/// function is called with the begin and the end of the operation, in seconds of the stream's
/// clock. If the stream issues to an accelerator, the call comes later, when the accelerator
/// reports the times. The result of `make_then()` must own everything it uses.
template <class Operation, class MakeThen>
void timed(Stream& clock, MeteredRank& rank, Operation operation, MakeThen make_then) {
  if (std::unique_ptr<EventTime> begin = clock.mark())
    return timed_later(clock, rank, std::move(begin), operation, make_then);
  const double begin_s = clock.now();
  operation();
  call_then(make_then, begin_s, clock.now());
}

}  // namespace trigram

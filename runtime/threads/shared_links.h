#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "netmodels/network/network.h"
#include "runtime/host/schedule.h"

namespace trigram::threads {

/// Messages that share the links of a network. A message is a flow, which is cut into slices, like
/// packets. A link is a token bucket: it serves one slice at a time, for as long as the tokens for
/// the slice take to accumulate. An idle link does not save tokens, so no message is faster than
/// the link.
///
/// A link serves the waiting slice with the smallest start tag, which is the larger of the link's
/// virtual time and the end tag of the flow's previous slice (start-time fair queueing; Goyal, Vin
/// and Cheng, SIGCOMM 1996). So backlogged flows get equal shares of the link, and a flow that was
/// idle gains nothing from that. A slice enters the next link of its route when its first byte
/// does, and a flow has several slices in flight. If links serve their flows in turn and flows have
/// windows, flows share a network max-min fairly (Hahne, "Round-Robin Scheduling for Max-Min
/// Fairness in Data Networks", IEEE JSAC 9(7), 1991). So the queues lead to the same shares that
/// the simulator computes.
///
/// The class has no clock and takes no locks. Its owner passes it the time and accounts for
/// latencies.
class SharedLinks {
 public:
  /// Called with the date at which the last byte has passed all links.
  using Ended = std::function<void(double date_s)>;

  /// A slice has `bucket_depth` bytes, or more if these would take less than kShortestSlice_s at
  /// the bandwidth of the flow. `network` must outlive this object.
  SharedLinks(const Network& network, double bucket_depth);
  ~SharedLinks();

  /// Starts a flow of `nbytes` bytes at `date_s`, or at the time of the last advance() if that is
  /// later. The `Ended` of another flow may call it, with a date no earlier than its own.
  void start(double date_s, int source, int destination, double nbytes, Ended ended);
  /// Processes all events up to `now_s`.
  void advance(double now_s) {
    schedule_.run_due(now_s);
    now_s_ = now_s;
  }
  /// A lower bound for the end of the next flow. The owner need not call advance() before that
  /// time. kNever if there are no flows.
  double next() const;

  /// Bytes that a link has carried so far.
  double carried(LinkId link) const;

  /// Shorter slices would cost more work than they gain in accuracy, because waiting threads do not
  /// wake up that precisely.
  static constexpr double kShortestSlice_s = 50e-6;

 private:
  struct Bucket;
  struct Flow;
  struct Slice {
    Flow* flow = nullptr;
    double nbytes = 0;
    std::size_t hop = 0;  // index into the flow's route
    double passed_s = 0;  // time at which the last byte has passed the links so far
  };

  void continue_flow(Flow& flow, double date_s);
  void arrive(const Slice& slice, double date_s);
  void serve(Bucket& bucket, double date_s);
  std::vector<Bucket*> route(int source, int destination);
  Bucket* connection(int source, int destination);

  const Network& network_;
  const double bucket_depth_;
  host::Schedule schedule_;
  double now_s_ = 0;
  std::vector<std::unique_ptr<Bucket>> links_;                          // null for unlimited links
  std::map<std::pair<int, int>, std::unique_ptr<Bucket>> connections_;  // only those with a limit
  std::map<const Flow*, std::unique_ptr<Flow>> flows_;                  // in flight
};

}  // namespace trigram::threads

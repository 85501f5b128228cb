#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "netmodels/network/network.h"
#include "runtime/host/schedule.h"

namespace trigram::threads {

/// Messages that share the links of a network. They are cut in slices, as they would be in packets,
/// and a link is a token bucket: it passes one slice at a time, for as long as the tokens for it
/// take to come in. Tokens are not saved while a link has nothing to pass, so that no message is
/// faster than the link.
///
/// A link passes that slice next whose flow has had the least of it (start-time fair queueing;
/// Goyal, Vin and Cheng, SIGCOMM 1996). A slice enters the next link of its route when its first
/// byte does, and a flow has several slices under way. Links that serve their flows in turn, and
/// flows with windows, share a network max-min fairly (Hahne, "Round-Robin Scheduling for Max-Min
/// Fairness in Data Networks", IEEE JSAC 9(7), 1991): what the simulator solves for is met here by
/// queueing.
///
/// It has no clock and takes no locks: its owner says when it is. Latencies are the owner's, too.
class SharedLinks {
 public:
  /// Called with the date at which the last byte has passed all links.
  using Ended = std::function<void(double date_s)>;

  /// A slice has `bucket_depth` bytes, but takes its flow at least kShortestSlice_s. `network`
  /// outlives this.
  SharedLinks(const Network& network, double bucket_depth);
  ~SharedLinks();

  /// Bytes that flow from `date_s` on, or from the last advance() if that was later. May be called
  /// when another flow has ended, for no earlier date.
  void start(double date_s, int source, int destination, double nbytes, Ended ended);
  /// Lets time go by until `now_s`.
  void advance(double now_s) {
    schedule_.run_due(now_s);
    now_s_ = now_s;
  }
  /// No flow ends before this date: the owner need not advance until then. kNever without flows.
  double next() const;

  /// Bytes that a link has passed.
  double carried(LinkId link) const;

  /// Shorter slices would be more work than they are worth: what waits for messages wakes up less
  /// exactly.
  static constexpr double kShortestSlice_s = 50e-6;

 private:
  struct Bucket;
  struct Flow;
  struct Slice {
    Flow* flow = nullptr;
    double nbytes = 0;
    std::size_t hop = 0;  // along the flow's route
    double passed_s = 0;  // when the last byte has passed the links so far
  };

  void go_on(Flow& flow, double date_s);
  void arrive(const Slice& slice, double date_s);
  void serve(Bucket& bucket, double date_s);
  std::vector<Bucket*> route(int source, int destination);
  Bucket* connection(int source, int destination);

  const Network& network_;
  const double bucket_depth_;
  host::Schedule schedule_;
  double now_s_ = 0;
  std::vector<std::unique_ptr<Bucket>> links_;                          // null where unlimited
  std::map<std::pair<int, int>, std::unique_ptr<Bucket>> connections_;  // of those that have limits
  std::map<const Flow*, std::unique_ptr<Flow>> flows_;                  // under way
};

}  // namespace trigram::threads

#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// Messages by which every worker shows to a failure detector that it is there. The detector stands
/// beside rank 0, like the Coordinator (algorithms/membership/coordinator.h), and does not fail.
struct Heartbeats {
  enum class Lane {
    shared,  // heartbeats wait in the queues of links behind the bytes of training
    own,     // they do not, as with a priority of their own or over a network of their own
  };
  double every_s = 1;     // from one heartbeat of a worker to the next
  double timeout_s = 10;  // a worker is suspected if none has arrived for so long
  double bytes = 256;     // on the wire
  Lane lane = Lane::shared;
};

/// null or an object.
OptionType<std::optional<Heartbeats>> heartbeats_kind();

/// The times that the detector knows of each worker. The sender knows when its heartbeat will
/// arrive, so that a suspicion is known before its date. Dates are in seconds of the world's clock.
///
/// A worker that has stopped is silent, and its crash is noticed when its deadline has passed. A
/// suspicion of any other worker is *false*.
class HeartbeatDetector {
 public:
  HeartbeatDetector(const Heartbeats& heartbeats, std::size_t ranks)
      : heartbeats_(heartbeats), workers_(ranks) {}

  const Heartbeats& heartbeats() const { return heartbeats_; }
  /// The detector expects heartbeats of a worker from `date_s` on.
  void expect(int rank, double date_s);
  /// The worker has stopped, and sends none until `expect` is called again.
  void silence(int rank) { at(rank).expected = false; }
  bool expects(int rank) const { return at(rank).expected; }
  /// The heartbeat that a worker sends at `sent_s` will arrive at `arrives_s`, or when the one
  /// before it arrives if that is later, since a connection keeps the order.
  void sent(int rank, double sent_s, double arrives_s);
  /// Call when the deadline of a worker has passed, and it has sent nothing that will arrive
  /// before.
  void missed(int rank);
  /// The date at which a worker is suspected, unless another heartbeat arrives before.
  double deadline_s(int rank) const { return at(rank).last_s + heartbeats_.timeout_s; }
  /// The date of the earliest suspicion of a worker since `expect`; infinite: there is none.
  double suspected_s(int rank) const { return at(rank).suspected_s; }

  /// The longest time that a heartbeat was on its way, over all workers.
  double longest_delay_s() const { return longest_delay_s_; }

  /// The state as bytes, for the process that has started this one.
  std::string to_bytes() const;
  void from_bytes(const std::string& bytes);

 private:
  struct Worker {
    bool expected = false;
    double last_s = 0;  // the arrival of the last heartbeat
    double suspected_s = std::numeric_limits<double>::infinity();
  };
  Worker& at(int rank) { return workers_[static_cast<std::size_t>(rank)]; }
  const Worker& at(int rank) const { return workers_[static_cast<std::size_t>(rank)]; }

  const Heartbeats heartbeats_;
  std::vector<Worker> workers_;  // by rank
  double longest_delay_s_ = 0;
};

}  // namespace trigram

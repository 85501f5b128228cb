#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/algorithm.h"
#include "core/context.h"
#include "core/cost.h"
#include "core/machine_model.h"
#include "core/metering/egress_tariff.h"

namespace trigram {

class ArrivedTraffic;

/// Messages that a rank sends to another.
struct MessageCount {
  bool intra;  // inside a node
  std::uint64_t messages, bytes;
  bool egress = false;    // to another zone
  double egress_usd = 0;  // what that costs (EgressTariff)
};

/// Totals of one rank so far, over all its streams. Messages and priced bytes count when they are
/// sent, separately inside its node (intra) and to other nodes (inter).
struct Counters {
  double compute_s = 0;        // time of the main stream outside waits, transfers and sleep
  double communication_s = 0;  // inside transfer(), all streams
  double exposed_s = 0;        // the main stream's waits for Works and control messages
  std::uint64_t bytes_intra = 0, bytes_inter = 0;
  std::uint64_t messages_intra = 0, messages_inter = 0;
  std::uint64_t bytes_egress = 0;  // to other zones (MeterOptions::tariff)
  double egress_usd = 0;           // what they cost

  void add(const MessageCount& sent) {
    (sent.intra ? messages_intra : messages_inter) += sent.messages;
    (sent.intra ? bytes_intra : bytes_inter) += sent.bytes;
    if (!sent.egress) return;
    bytes_egress += sent.bytes;
    egress_usd += sent.egress_usd;
  }
};

/// The present work of a rank's main stream. Its events carry the label, and so do the events of
/// tasks that it submits meanwhile.
struct StepLabel {
  enum Phase { none, forward, backward } phase = none;
  /// The bucket whose weights the forward pass waits for, or whose gradient the backward pass
  /// computes; -1: unknown.
  int bucket = -1;
};

/// A time interval on a stream, or a message. Times are in seconds of the stream's clock.
struct Event {
  enum Kind { compute, transfer, wait, send, recv, delay } kind;
  int rank;
  std::string stream;
  double begin_s, end_s;
  int peer = -1;            // send and recv only
  std::uint64_t bytes = 0;  // priced
  std::uint64_t batch = 0;  // index of the transfer() call on this stream
  StepLabel label = {};
  Cost::Kind operation = Cost::Kind::other;  // compute only: the kind of operation on vectors
};

/// Receives events. Several threads may call it: the thread of the event's stream or, for times
/// that an accelerator reports, the thread that calls Meter::counters.
using EventSink = std::function<void(const Event&)>;

/// The meter of one rank. `instrument` wraps a runtime's Context, in the same way for every world:
/// it counts what streams and communicators do, applies the machine model to computation, and wraps
/// the device so that its operations are charged.
class Meter {
 public:
  virtual ~Meter() = default;
  /// The rank's main context, instrumented; streams forked from it are instrumented too.
  virtual Context context() = 0;
  /// Totals since the start. They are exact at the end of each step of the rank's main stream.
  virtual Counters counters() const = 0;
  /// Sets the totals to `totals` and counts on from there. Nothing may be in progress on the rank's
  /// streams. So a run that continues another run adds the same numbers in the same order.
  virtual void count_on_from(const Counters& totals) = 0;
  /// From now on, events of the main stream carry `label`.
  virtual void set_label(const StepLabel& label) = 0;

  /// From now on, keeps the streams that are forked from the main stream. After `restart_forks`,
  /// the first, second, ... fork returns the first, second, ... kept stream again, as long as the
  /// names are the same. So a run in many parts does not fork new streams in each part. Only for
  /// streams whose tasks leave no control messages behind.
  virtual void keep_forks() = 0;
  virtual void restart_forks() = 0;
  /// Closes the streams that were kept.
  virtual void close_forks() = 0;
};

struct MeterOptions {
  bool phantom = false;                   // tensors have no values and the device is a NullDevice
  const MachineModel* machine = nullptr;  // null: nominal speed
  const Steps* steps = nullptr;           // tells the machine model the current step; null: step 0
  EventSink sink;                         // empty: no events
  // Counts the messages that have arrived. Only for worlds whose ranks share one thread; null:
  // arrivals are not counted.
  ArrivedTraffic* arrived = nullptr;
  // For Counters::bytes_egress and egress_usd; must outlive the meter. Null: all ranks are in one
  // zone.
  const EgressTariff* tariff = nullptr;
};
std::unique_ptr<Meter> instrument(const Context& raw, MeterOptions options);

}  // namespace trigram

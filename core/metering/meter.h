#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/algorithm.h"
#include "core/context.h"
#include "core/machine_model.h"

namespace trigram {

/// What one rank has done so far, over all its streams. Bytes are priced bytes sent.
struct Counters {
  double compute_s = 0;        // the main stream, less waiting, transferring and sleeping
  double communication_s = 0;  // inside transfer(), all streams
  double exposed_s = 0;        // the main stream waiting for Works and control messages
  std::uint64_t bytes_intra = 0, bytes_inter = 0;
  std::uint64_t messages_intra = 0, messages_inter = 0;
};

/// Something that took time on a stream, or a message. Times in seconds of the stream's clock.
struct Event {
  enum Kind { compute, transfer, wait, send, recv } kind;
  int rank;
  std::string stream;
  double begin_s, end_s;
  int peer = -1;            // of send and recv
  std::uint64_t bytes = 0;  // priced
  std::uint64_t batch = 0;  // number of the transfer() call on this stream
};

/// Receives events; called on the stream where they happen, so possibly from several threads.
using EventSink = std::function<void(const Event&)>;

/// The meter of one rank. `instrument` puts it around a runtime's Context, once, for every world:
/// it counts what streams and communicators do, applies the machine model to computation, and wraps
/// the device so that its operations are charged.
class Meter {
 public:
  virtual ~Meter() = default;
  /// The rank's main context, instrumented; streams forked from it are instrumented too.
  virtual Context context() = 0;
  /// Totals since the start. Exact at step ends of the rank's own main stream.
  virtual Counters counters() const = 0;
};

struct MeterOptions {
  bool phantom = false;                   // tensors have no values: the device is a NullDevice
  const MachineModel* machine = nullptr;  // nominal when null
  const Steps* steps = nullptr;           // tells the machine model the step; step 0 when null
  EventSink sink;                         // no events when empty
  // By rank of the sender, what has arrived: each meter adds what its rank receives. For worlds
  // whose ranks share one thread; nothing is added when empty.
  std::span<Counters> arrived = {};
};
std::unique_ptr<Meter> instrument(const Context& raw, MeterOptions options);

}  // namespace trigram

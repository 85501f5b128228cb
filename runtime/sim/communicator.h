#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Mailbox.hpp>
#include <unordered_map>
#include <vector>

#include "core/collective_pricer.h"
#include "core/communicator.h"
#include "runtime/sim/connection.h"
#include "runtime/sim/parcel.h"

namespace trigram::sim {

class FluidCollectives;
class Overlap;
class SimStream;

/// Prices the collectives of one stream of one rank as flows.
class SimPricer final : public CollectivePricer {
 public:
  SimPricer(SimStream& stream, FluidCollectives& fluid) : stream_(stream), fluid_(fluid) {}
  void price(const CollectivePattern& pattern, const Messages& messages) override;

 private:
  SimStream& stream_;
  FluidCollectives& fluid_;
};

/// Messages between same-named streams, or from the `out` of a one-way channel to its `in`. There
/// is one mailbox for each (receiving stream, source, destination). The network carries the priced
/// bytes.
class SimCommunicator final : public Communicator {
 public:
  explicit SimCommunicator(SimStream& stream) : stream_(stream) {}
  int rank() const override;
  int size() const override;
  void transfer(std::span<const Transfer> batch) override;
  std::int64_t buffered(std::size_t nbytes) const override;
  CollectivePricer* pricer() override;

  /// True while the rank is in a call that sends or receives on connections.
  bool in_call() const { return in_call_; }
  /// Returns when all messages of this stream have been delivered.
  void flush();
  /// The peers that have not received all messages that the transport has accepted for them.
  std::vector<int> ranks_yet_to_receive() const;
  /// The connections of this stream that have been used.
  const std::vector<std::unique_ptr<Connection>>& connections() const { return owned_; }
  /// The connection for messages of a traffic class to `peer`. Only eager transports have
  /// connections.
  Connection& connection_to(int peer, TrafficClass traffic = TrafficClass::collective);

 private:
  struct InFlight {
    simgrid::s4u::CommPtr comm;
    Parcel* parcel = nullptr;
  };
  /// Per-peer state in one direction, separate for answers. The last entry used is cached, because
  /// the next message most often needs it again.
  template <class T>
  struct ByPeer {
    int last_key = -1;
    T* last = nullptr;
    std::unordered_map<int, T*> all;
  };
  static int key(int peer, TrafficClass traffic) {
    return 2 * peer + (traffic == TrafficClass::answer);
  }

  /// Seconds that the sender's software spends on a batch before it leaves.
  double overhead_s(std::span<const Transfer> batch) const;
  /// The number of bytes that the network carries for a message.
  std::uint64_t wire_bytes(const Transfer& transfer) const;
  /// The largest rate of this message in bytes per second. It is infinite, unless the traffic class
  /// has fewer connections than collectives have, or a message may be slower than its connection.
  double message_cap_Bps(const Transfer& transfer) const;
  void run(std::span<const Transfer> batch, InFlight* in_flight);
  void prepare(const Transfer& transfer, InFlight& in_flight);
  static void start(std::span<const Transfer> batch, InFlight* in_flight, Transfer::Kind kind);
  /// Reports the starts of messages to and from other ranks.
  void report_starts(Overlap& overlap, std::span<const Transfer> batch);
  /// Waits for a message. If it is a receive, copies the values to the tensor.
  void finish(const Transfer& transfer, InFlight& in_flight);
  /// For a rendezvous transport: starts both halves of all messages and waits for them.
  void run_rendezvous(std::span<const Transfer> batch, InFlight* in_flight);
  /// For an eager transport: waits until the receives have completed and the transport has accepted
  /// the sends.
  void run_eager(std::span<const Transfer> batch, InFlight* in_flight);
  Rendezvous& rendezvous_of(const Transfer& receive);
  void post_receives(std::span<const Transfer> batch);
  void read_announcements(std::span<const Transfer> batch);
  void send(const Transfer& transfer, InFlight& in_flight);
  simgrid::s4u::Mailbox& mailbox_to(int peer, TrafficClass traffic) {
    return outward_.last_key == key(peer, traffic) ? *outward_.last
                                                   : look_up(outward_, peer, traffic, true);
  }
  simgrid::s4u::Mailbox& mailbox_from(int peer, TrafficClass traffic) {
    return inward_.last_key == key(peer, traffic) ? *inward_.last
                                                  : look_up(inward_, peer, traffic, false);
  }
  simgrid::s4u::Mailbox& look_up(ByPeer<simgrid::s4u::Mailbox>& mailboxes, int peer,
                                 TrafficClass traffic, bool outward);

  SimStream& stream_;
  std::optional<SimPricer> pricer_;  // only if collectives may be flows
  // Records of the current call if its batch is small. They are next to other members that every
  // message uses.
  std::array<InFlight, 2> small_batch_;
  bool small_batch_abandoned_ = false;
  bool in_call_ = false;
  ByPeer<simgrid::s4u::Mailbox> inward_, outward_;
  ByPeer<Connection> connections_;
  std::vector<std::unique_ptr<Connection>> owned_;
  // Records of failed calls are kept, because SimGrid still writes to them when the rest of the
  // batch arrives.
  std::vector<std::unique_ptr<InFlight[]>> abandoned_;
};

}  // namespace trigram::sim

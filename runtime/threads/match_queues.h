#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "netmodels/transport.h"
#include "runtime/host/endpoint.h"
#include "runtime/host/staging.h"
#include "runtime/threads/shaped_network.h"

namespace trigram::threads {

using host::Endpoint;
using host::PostedTransfer;
using host::StagedTensor;

/// A message that an eager transport has accepted, so its send is complete. Its receive completes
/// once it is matched, its tensor has the values, and the message has arrived. The mutex of the
/// receiver's endpoint guards it, except for the values: they belong to the sender until `packed`
/// is set, and to the reader afterwards.
struct Parcel {
  explicit Parcel(double its_nbytes) : nbytes(its_nbytes) {}
  const double nbytes;  // priced bytes
  StagedTensor values;
  bool packed = false;               // `values` is complete
  PostedTransfer* reader = nullptr;  // the matching receive; null until there is one
  bool read = false;                 // the reader has the values
  bool arrived = false;
  bool received() const { return reader != nullptr && read && arrived; }
};

/// The matching queues for messages from one rank to another on one stream. Messages of
/// TrafficClass::answer have separate queues. The mutex of the receiver's endpoint guards them.
struct MatchQueues {
  std::vector<PostedTransfer*> receives;        // posted receives that have no message yet
  std::list<std::shared_ptr<Parcel>> accepted;  // accepted messages that have no receive yet
  std::vector<PostedTransfer*>
      sends;                       // sends that are neither accepted by the transport nor matched
  std::int64_t held_messages = 0;  // number of messages accepted but not yet received
  double held_bytes = 0;
  ShapedNetwork::SendQueue send_queue;  // guarded by the ShapedNetwork's mutex

  bool has_room(const Transport& transport, double nbytes, TrafficClass traffic) const {
    return transport.takes(held_messages, held_bytes, nbytes, traffic);
  }
  void hold(double nbytes) {
    ++held_messages;
    held_bytes += nbytes;
  }
  void release(double nbytes) {
    --held_messages;
    held_bytes -= nbytes;
  }
};

}  // namespace trigram::threads

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

/// A message that an eager transport has taken: its send is over. It is received when it has a
/// reader that has its values, and has arrived. Guarded by the mutex of the receiver's endpoint,
/// but for the values, which belong to the sender until `packed`, and then to the reader.
struct Parcel {
  explicit Parcel(double its_nbytes) : nbytes(its_nbytes) {}
  const double nbytes;  // priced
  StagedTensor values;
  bool packed = false;               // the values are there
  PostedTransfer* reader = nullptr;  // the receive that it has met
  bool read = false;                 // which has the values
  bool arrived = false;
  bool received() const { return reader != nullptr && read && arrived; }
};

/// Where the messages from one rank to another meet, on one stream; answers by themselves. Guarded
/// by the mutex of the receiver's endpoint.
struct Meeting {
  std::vector<PostedTransfer*> receives;     // without a message
  std::list<std::shared_ptr<Parcel>> taken;  // without a reader
  std::vector<PostedTransfer*> sends;        // that the transport has not taken, nor a receiver
  std::int64_t held_messages = 0;            // taken, not received
  double held_bytes = 0;
  ShapedNetwork::Line line;  // guarded by the network

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

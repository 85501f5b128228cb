#pragma once

#include <memory>
#include <vector>

#include "core/communicator.h"
#include "netmodels/transport.h"
#include "runtime/host/endpoint.h"
#include "runtime/host/staging.h"

namespace trigram::threads {

class ShapedNetwork;
class ThreadsGroup;
struct Meeting;
struct Parcel;
using host::Endpoint;
using host::PostedTransfer;

/// Messages between same-named streams. The two halves of a message meet at the receiver's
/// endpoint.
///
/// Where the transport is eager, a send that comes first leaves its values in staging memory and
/// goes on, if the transport takes it; else it waits for room. On an emulated network a message
/// that was taken travels, and is received when it has arrived. Where the receive comes first,
/// values are copied from tensor to tensor.
///
/// A rendezvous has one copy: whoever comes second makes it and completes both halves; on an
/// emulated network they are complete when the message would have arrived.
///
/// A send whose tensor the same batch overwrites is copied before all else.
class ThreadsCommunicator final : public Communicator {
 public:
  ThreadsCommunicator(ThreadsGroup& group, Endpoint& self);
  int rank() const override { return self_.rank; }
  int size() const override;
  void transfer(std::span<const Transfer> batch) override;
  std::int64_t buffered(std::size_t nbytes) const override;

 private:
  bool eager() const { return transport_.protocol == Transport::Protocol::eager; }
  void prepare(std::span<const Transfer> batch);
  void post_receive(PostedTransfer& half);
  void post_send(PostedTransfer& half);
  void meet(PostedTransfer& mine, PostedTransfer& theirs);
  std::shared_ptr<Parcel> take(Meeting& meeting, const PostedTransfer& half);
  void hand_over(PostedTransfer& half, std::shared_ptr<Parcel> parcel, PostedTransfer* reader);
  void take_what_fits();
  void read(int source, Meeting& meeting, Parcel& parcel, PostedTransfer& half);
  std::exception_ptr copy(const Tensor& sent, int source, const Tensor& received, int destination);
  void await_completion();
  void withdraw() noexcept;
  void complete_here(PostedTransfer& half);
  Endpoint& receiver_of(const PostedTransfer& half);
  Meeting& meeting_place(const PostedTransfer& half);

  ThreadsGroup& group_;
  Endpoint& self_;
  ShapedNetwork* const network_;  // null where messages take no time
  const Transport& transport_;
  host::Staging& staging_;
  // Of the call in progress; kept between calls for their memory.
  std::vector<PostedTransfer> halves_;
  std::vector<Tensor> staged_;
  std::vector<PostedTransfer*> untaken_;  // sends that have waited for room
  std::size_t completed_here_ = 0;
};

}  // namespace trigram::threads

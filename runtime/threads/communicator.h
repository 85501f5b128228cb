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
struct MatchQueues;
struct Parcel;
using host::Endpoint;
using host::PostedTransfer;

/// Messages between same-named streams of ranks in this process. The halves of a message are
/// matched at the receiver's endpoint.
///
/// If the transport is eager and a send comes before its receive, the transport accepts the message
/// if its buffer has room: the values are copied to staging memory, and the send is complete.
/// Otherwise the send waits for room. On an emulated network an accepted message then travels, and
/// its receive completes once it has arrived. If the receive comes first, the values are copied
/// from tensor to tensor.
///
/// If the transport is a rendezvous, values are copied once: the thread that posts the second half
/// copies the values and completes both halves. On an emulated network both halves complete at the
/// time when the message would have arrived.
///
/// A send whose tensor is overwritten by a receive of the same batch is copied before anything
/// else.
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
  void match(PostedTransfer& mine, PostedTransfer& theirs);
  std::shared_ptr<Parcel> accept(MatchQueues& queues, const PostedTransfer& half);
  void send_accepted(PostedTransfer& half, std::shared_ptr<Parcel> parcel, PostedTransfer* reader);
  void retry_waiting_sends();
  void read(int source, MatchQueues& queues, Parcel& parcel, PostedTransfer& half);
  std::exception_ptr copy(const Tensor& sent, int source, const Tensor& received, int destination);
  void await_completion();
  void withdraw() noexcept;
  void complete_own(PostedTransfer& half);
  Endpoint& receiver_of(const PostedTransfer& half);
  MatchQueues& queues_for(const PostedTransfer& half);

  ThreadsGroup& group_;
  Endpoint& self_;
  ShapedNetwork* const network_;  // null if messages take no time
  const Transport& transport_;
  host::Staging& staging_;
  // State of the current call. The vectors are kept between calls to reuse their memory.
  std::vector<PostedTransfer> halves_;
  std::vector<Tensor> staged_;
  std::vector<PostedTransfer*> waiting_sends_;  // sends that wait for room
  // Number of halves that this thread has completed and that `outstanding` still counts.
  std::size_t completed_own_ = 0;
};

}  // namespace trigram::threads

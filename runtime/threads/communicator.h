#pragma once

#include <vector>

#include "core/communicator.h"
#include "runtime/host/endpoint.h"

namespace trigram::threads {

class EmulatedNetwork;
class ThreadsGroup;
using host::Endpoint;
using host::Half;

/// Messages between same-named streams: rendezvous with one copy. The two halves of a message meet
/// at the receiver's endpoint; whoever comes second copies, from buffer to buffer, and completes
/// both; on an emulated network they are complete when the message would have arrived. A send whose
/// buffer the same batch overwrites is staged first.
class ThreadsCommunicator final : public Communicator {
 public:
  ThreadsCommunicator(ThreadsGroup& group, Endpoint& self);
  int rank() const override { return self_.rank; }
  int size() const override;
  void transfer(std::span<const Transfer> batch) override;

 private:
  void prepare(std::span<const Transfer> batch);
  void post(Half& half);
  void meet(Half& mine, Half& theirs);
  std::exception_ptr copy(const Half& mine, const Half& theirs);
  void await_completion();
  void withdraw() noexcept;
  std::vector<Half*>& meeting_place(const Half& half, Endpoint*& receiver);

  ThreadsGroup& group_;
  Endpoint& self_;
  EmulatedNetwork* const network_;  // null where messages take no time
  // Of the call in progress; kept between calls for their memory.
  std::vector<Half> halves_;
  std::vector<Tensor> staged_;
  std::size_t completed_here_ = 0;
};

}  // namespace trigram::threads

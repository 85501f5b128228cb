// The sends of messages that the transport accepts before their receive is posted.
#include <algorithm>
#include <utility>

#include "runtime/threads/communicator.h"
#include "runtime/threads/match_queues.h"
#include "runtime/threads/shaped_network.h"
#include "runtime/threads/world.h"

namespace trigram::threads {
namespace {

double priced_nbytes(const PostedTransfer& half) {
  return static_cast<double>(half.tensor->priced_nbytes());
}

}  // namespace

/// The caller holds the receiver's mutex.
std::shared_ptr<Parcel> ThreadsCommunicator::accept(MatchQueues& queues,
                                                    const PostedTransfer& half) {
  auto parcel = std::make_shared<Parcel>(priced_nbytes(half));
  queues.hold(parcel->nbytes);
  if (queues.receives.empty()) {
    queues.accepted.push_back(parcel);
  } else {
    parcel->reader = queues.receives.front();
    queues.receives.erase(queues.receives.begin());
  }
  return parcel;
}

/// Copies the values of an accepted message: directly to the receiving tensor if `reader`, the
/// receive that was posted when the message was accepted, is not null. Then lets the message travel
/// through the network. The send is complete.
void ThreadsCommunicator::send_accepted(PostedTransfer& half, std::shared_ptr<Parcel> parcel,
                                        PostedTransfer* reader) {
  Endpoint& receiver = receiver_of(half);
  MatchQueues& queues = queues_for(half);
  const double accepted_s = network_ != nullptr ? self_.world.now() : 0;
  std::exception_ptr mismatch;
  const bool direct = reader != nullptr;
  if (direct) {
    mismatch = copy(*half.tensor, rank(), *reader->tensor, half.peer);
  } else {
    parcel->values.pack(*half.tensor, staging_);
    std::lock_guard lock(receiver.mutex);
    parcel->packed = true;
    reader = parcel->reader;
  }
  if (!direct && reader != nullptr)
    mismatch = copy(parcel->values.tensor(), rank(), *reader->tensor, half.peer);
  const bool travels = network_ != nullptr && !mismatch;
  progress(self_, receiver, queues, *parcel, [&] {
    parcel->read = parcel->read || reader != nullptr;
    parcel->arrived = !travels;
  });
  if (travels)
    network_->send(queues.send_queue, accepted_s, rank(), half.peer, half.tensor->priced_nbytes(),
                   [&self = self_, &receiver, &queues, parcel] {
                     progress(self, receiver, queues, *parcel, [&] { parcel->arrived = true; });
                   });
  complete_own(half);
  if (mismatch) std::rethrow_exception(mismatch);
}

/// Sends the waiting messages for which the transport's buffer has room by now.
void ThreadsCommunicator::retry_waiting_sends() {
  for (PostedTransfer* const half : std::exchange(waiting_sends_, {})) {
    MatchQueues& queues = queues_for(*half);
    std::shared_ptr<Parcel> parcel;
    PostedTransfer* reader = nullptr;
    {
      std::lock_guard lock(receiver_of(*half).mutex);
      const auto position = std::ranges::find(queues.sends, half);
      if (position == queues.sends.end()) continue;  // a receive has matched it
      if (position == queues.sends.begin() &&
          queues.has_room(transport_, priced_nbytes(*half), half->traffic)) {
        queues.sends.erase(queues.sends.begin());
        parcel = accept(queues, *half);
        reader = parcel->reader;
      }
    }
    if (parcel) send_accepted(*half, std::move(parcel), reader);
    else waiting_sends_.push_back(half);
  }
}

/// Copies the values of a message that was sent before its receive was posted.
void ThreadsCommunicator::read(int source, MatchQueues& queues, Parcel& parcel,
                               PostedTransfer& half) {
  const std::exception_ptr mismatch = copy(parcel.values.tensor(), source, *half.tensor, rank());
  progress(group_.senders().at(source), self_, queues, parcel, [&] {
    parcel.read = true;
    parcel.values.clear();
  });
  if (mismatch) std::rethrow_exception(mismatch);
}

}  // namespace trigram::threads

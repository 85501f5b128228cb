// The sends of an MpiCommunicator that complete as soon as its outbox has copied them.

#include <algorithm>
#include <utility>

#include "runtime/host/back_off.h"
#include "runtime/mpi/communicator.h"
#include "runtime/mpi/world.h"

namespace trigram::mpi {

bool MpiWorld::buffers_to(int peer) const {
  if (transport_.protocol != Transport::Protocol::eager || eager_to(peer)) return false;
  if (sends_ != MpiSends::automatic) return sends_ == MpiSends::buffered;
  return !layout().same_node(rank(), peer);
}

/// With automatic sends, true if every node has one rank.
bool MpiWorld::buffers_to_all() const {
  if (transport_.protocol != Transport::Protocol::eager || eager_.latency_s > 0) return false;
  if (sends_ != MpiSends::automatic) return sends_ == MpiSends::buffered;
  return static_cast<int>(layout().nodes().size()) == layout().ranks();
}

/// After a failed world MPI may still read messages that were not received, so their memory is
/// leaked.
MpiCommunicator::~MpiCommunicator() {
  if (!outbox_->empty()) static_cast<void>(outbox_.release());
}

std::int64_t MpiCommunicator::buffered(std::size_t nbytes) const {
  if (!world_.buffers_to_all() || nbytes > Outbox::kLongest) return 0;
  return world_.transport().max_buffered_messages(static_cast<double>(nbytes),
                                                  TrafficClass::point_to_point);
}

/// Sends now, or lets the send wait. Messages to a rank leave in order: a message for which the
/// outbox has no room delays all later messages to its rank.
void MpiCommunicator::send_in_order(std::size_t half) {
  const int peer = call_->halves[half].peer;
  const bool must_wait = std::ranges::any_of(call_->waiting_for_outbox, [&](std::size_t earlier) {
    return call_->halves[earlier].peer == peer;
  });
  if (must_wait || !try_send(half)) call_->waiting_for_outbox.push_back(half);
}

/// Sends through the outbox, or from the caller's memory if the message is not to be buffered, is
/// too long for the outbox, or would overtake pieces that wait. Returns false, without having done
/// anything, if the outbox has no room.
bool MpiCommunicator::try_send(std::size_t half) {
  host::PostedTransfer& h = call_->halves[half];
  const Tensor& x = *h.tensor;
  const std::size_t filler = filler_of(x);
  if (!world_.buffers_to(h.peer) || std::max(payload_of(x), filler) > Outbox::kLongest ||
      has_waiting(h.peer)) {
    post(half);
    return true;
  }
  if (!outbox_->has_room(h.peer, x, filler, h.traffic)) return false;
  outbox_->send(h.peer, x, filler);
  std::lock_guard lock(self_.mutex);
  h.done = true;
  return true;
}

/// Returns the number of sends that no longer wait for the outbox.
std::size_t MpiCommunicator::retry_waiting_sends() {
  if (call_->waiting_for_outbox.empty() || outbox_->forget_received() == 0) return 0;
  const auto waited = std::exchange(call_->waiting_for_outbox, {});
  for (const std::size_t half : waited) send_in_order(half);
  return waited.size() - call_->waiting_for_outbox.size();
}

bool MpiCommunicator::has_waiting(int peer) const {
  return std::ranges::any_of(
      call_->waiting, [&](const Piece& piece) { return call_->halves[piece.half].peer == peer; });
}

void MpiCommunicator::flush() {
  host::BackOff back_off = host::BackOff::for_messages();
  while (!outbox_->empty()) {
    world_.check_not_failed();
    if (outbox_->forget_received() > 0) {
      back_off.reset();
      std::lock_guard lock(self_.mutex);
      ++self_.waits_ended;
      continue;
    }
    if (back_off.sleeping())
      self_.set_state(host::Endpoint::State::blocked,
                      {.kind = Wait::receiver, .peer = outbox_->slowest()});
    back_off.pause();
  }
  self_.set_state(host::Endpoint::State::running);
}

}  // namespace trigram::mpi

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

/// Messages to a rank leave in order. A message for which the outbox has no room delays all later
/// messages to its rank.
void MpiCommunicator::post_or_buffer(std::size_t half) {
  const int peer = call_->halves[half].peer;
  const auto same = [&](std::size_t other) { return call_->halves[other].peer == peer; };
  const bool behind =
      std::any_of(call_->waiting_for_room.begin(), call_->waiting_for_room.end(), same);
  if (behind || !buffer_or_post(half)) call_->waiting_for_room.push_back(half);
}

/// Returns false, without having done anything, if the outbox has no room. Messages that are too
/// long for the outbox are sent from the caller's memory.
bool MpiCommunicator::buffer_or_post(std::size_t half) {
  host::PostedTransfer& h = call_->halves[half];
  const Tensor& x = *h.tensor;
  const std::size_t filler = filler_of(x);
  const std::size_t payload = x.is_phantom() ? 0 : x.nbytes();
  if (!world_.buffers_to(h.peer) || std::max(payload, filler) > Outbox::kLongest ||
      has_waiting(h.peer)) {
    post(half);
    return true;
  }
  if (!outbox_->takes(h.peer, x, filler, h.traffic)) return false;
  outbox_->send(h.peer, x, filler);
  std::lock_guard lock(self_.mutex);
  h.done = true;
  return true;
}

/// Returns the number of sends that waited for room and are now complete.
std::size_t MpiCommunicator::retry_waiting_sends() {
  if (call_->waiting_for_room.empty() || outbox_->forget_received() == 0) return 0;
  const auto waited = std::exchange(call_->waiting_for_room, {});
  for (const std::size_t half : waited) post_or_buffer(half);
  return waited.size() - call_->waiting_for_room.size();
}

bool MpiCommunicator::has_waiting(int peer) const {
  return std::any_of(call_->waiting.begin(), call_->waiting.end(),
                     [&](const Piece& piece) { return call_->halves[piece.half].peer == peer; });
}

void MpiCommunicator::flush() {
  host::BackOff back_off = host::BackOff::of_a_message();
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

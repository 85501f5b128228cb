#include "runtime/sim/overlap.h"

#include <algorithm>

#include "runtime/sim/stream.h"

namespace trigram::sim {

void Overlap::started(const simgrid::s4u::Mailbox* box, bool sends, int rank, int peer) {
  long& sent = unmatched_[box];
  const bool matched = sends ? sent < 0 : sent > 0;
  sent += sends ? 1 : -1;
  if (!matched) return;
  change(rank, 1);
  change(peer, 1);
}

void Overlap::subscribe(int rank, SimStream& stream) {
  ranks_[static_cast<std::size_t>(rank)].computing.push_back(&stream);
}

void Overlap::unsubscribe(int rank, SimStream& stream) {
  auto& computing = ranks_[static_cast<std::size_t>(rank)].computing;
  computing.erase(std::find(computing.begin(), computing.end(), &stream));
}

void Overlap::change(int rank, int by) {
  Rank& changed = ranks_[static_cast<std::size_t>(rank)];
  const bool before = changed.messages > 0;
  changed.messages += by;
  if (before == (changed.messages > 0)) return;
  for (SimStream* stream : changed.computing) stream->notify_pace();
}

}  // namespace trigram::sim

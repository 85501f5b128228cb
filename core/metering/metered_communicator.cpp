#include "core/metering/metered_communicator.h"

#include "core/metering/ring_messages.h"

namespace trigram {

void MeteredCommunicator::transfer(std::span<const Transfer> batch) {
  const double begin_s = clock_.now();
  raw_.transfer(batch);
  const double end_s = clock_.now();
  tally_.transfer_s.add(end_s - begin_s);
  for (const Transfer& t : batch)
    if (t.kind == Transfer::send) count(t.peer, t.tensor.priced_nbytes());
  if (rank_.sink()) report(batch, begin_s, end_s);
}

bool MeteredCommunicator::native(const Collective& collective) {
  const double begin_s = clock_.now();
  if (!raw_.native(collective)) return false;
  const double end_s = clock_.now();
  tally_.transfer_s.add(end_s - begin_s);
  Event event{Event::transfer, rank_.rank(), std::string(clock_.name()), begin_s, end_s};
  event.batch = batches_;
  ring_messages(collective, rank(), size(), [&](int peer, std::uint64_t bytes) {
    count(peer, bytes);
    event.bytes += bytes;
  });
  if (!rank_.sink()) return true;
  ++batches_;
  rank_.sink()(event);
  return true;
}

void MeteredCommunicator::count(int peer, std::uint64_t bytes) {
  const bool intra = rank_.same_node(peer);
  (intra ? tally_.messages_intra : tally_.messages_inter).add(1);
  (intra ? tally_.bytes_intra : tally_.bytes_inter).add(bytes);
}

void MeteredCommunicator::report(std::span<const Transfer> batch, double begin_s, double end_s) {
  Event event{Event::transfer, rank_.rank(), std::string(clock_.name()), begin_s, end_s};
  event.batch = batches_++;
  for (const Transfer& t : batch)
    if (t.kind == Transfer::send) event.bytes += t.tensor.priced_nbytes();
  rank_.sink()(event);
  for (const Transfer& t : batch) {
    event.kind = t.kind == Transfer::send ? Event::send : Event::recv;
    event.peer = t.peer;
    event.bytes = t.tensor.priced_nbytes();
    rank_.sink()(event);
  }
}

}  // namespace trigram

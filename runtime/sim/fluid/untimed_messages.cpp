#include "runtime/sim/fluid/untimed_messages.h"

#include "runtime/sim/stream.h"

namespace trigram::sim {

void UntimedMessages::transfer(SimStream& stream, std::span<const Transfer> batch) {
  const int rank = stream.rank();
  for (const Transfer& t : batch) {
    check_peer(rank, t.peer, world_.layout().ranks(), stream.name());
    if (t.kind != Transfer::send) continue;
    Parcel* parcel = world_.parcels().take();
    parcel->pack(t.tensor);
    arrived_[{stream.id(), rank, t.peer}].push(parcel);
    world_.stream(stream.id(), t.peer).wake();
  }
  for (const Transfer& t : batch) {
    if (t.kind != Transfer::recv) continue;
    auto& parcels = arrived_[{stream.id(), t.peer, rank}];
    stream.block({.kind = Wait::message, .peer = t.peer}, [&] { return !parcels.empty(); });
    Parcel& parcel = *parcels.front();
    parcels.pop();
    if (!parcel.fits(t.tensor)) check_match(parcel.shape(), t.peer, t.tensor, rank, stream.name());
    parcel.unpack(t.tensor);
    world_.parcels().give_back(&parcel);
  }
}

}  // namespace trigram::sim

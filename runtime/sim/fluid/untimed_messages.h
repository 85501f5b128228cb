#pragma once

#include <map>
#include <queue>
#include <span>
#include <tuple>

#include "core/communicator.h"
#include "runtime/sim/parcel.h"
#include "runtime/sim/world.h"

namespace trigram::sim {

/// Messages that take no time and do not load links. They belong to collectives that are priced as
/// a whole.
class UntimedMessages {
 public:
  explicit UntimedMessages(World& world) : world_(world) {}
  void transfer(SimStream& stream, std::span<const Transfer> batch);

 private:
  using ConnectionKey = std::tuple<StreamId, int, int>;  // stream, source, destination
  World& world_;
  std::map<ConnectionKey, std::queue<Parcel*>> arrived_;
};

}  // namespace trigram::sim

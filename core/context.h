#pragma once

#include "core/communicator.h"
#include "core/control.h"
#include "core/device.h"
#include "core/layout.h"
#include "core/stream.h"

namespace trigram {

/// Everything an algorithm sees of its world, from the point of view of one stream of one rank.
/// Cheap to copy, because it holds references and owns nothing.
struct Context {
  Stream* stream = nullptr;
  Communicator* comm = nullptr;
  Control* control = nullptr;
  Device* device = nullptr;
  const Layout* layout = nullptr;
  int world_rank = 0;  // the rank that keys random numbers and data, whatever `comm` is
  int world_size = 0;

  /// The same stream within a subset of the ranks.
  Context with(Communicator& subset) const {
    Context other = *this;
    other.comm = &subset;
    return other;
  }
  int rank() const { return comm->rank(); }
  int size() const { return comm->size(); }
};

}  // namespace trigram

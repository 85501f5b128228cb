#pragma once

#include <mpi.h>

namespace trigram::mpi {

/// What a stream has of MPI: all ranks in their order, and in the opposite order. The second is
/// null where there are more ranks than need it (AllreducePieces).
struct StreamComms {
  static constexpr int kMostRanksBackward = 3;
  MPI_Comm forward = MPI_COMM_NULL, backward = MPI_COMM_NULL;

  /// By all ranks together; `duplicate` makes that of one communicator.
  template <class Duplicate>
  StreamComms duplicates(const Duplicate& duplicate) const {
    StreamComms copies{.forward = duplicate(forward)};
    if (backward != MPI_COMM_NULL) copies.backward = duplicate(backward);
    return copies;
  }
};

}  // namespace trigram::mpi

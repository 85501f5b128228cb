#pragma once

#include <mpi.h>

namespace trigram::mpi {

/// What a stream has of MPI: all ranks in their order, and in the opposite order. The second is
/// null where there are more ranks than need it (AllreducePieces).
struct StreamComms {
  static constexpr int kMostRanksBackward = 3;
  MPI_Comm forward = MPI_COMM_NULL, backward = MPI_COMM_NULL;
};

}  // namespace trigram::mpi

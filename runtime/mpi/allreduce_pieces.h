#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "core/communicator.h"
#include "core/device.h"

namespace trigram::mpi {

/// An allreduce in f32 with MPI's nonblocking collectives. The vector is cut into pieces, of which
/// a few are in flight at a time, so that they stay in the caches.
///
/// With two or three ranks, values are sent directly (MPI_Ialltoallv) and added up in the order of
/// ranks. If the piece is short, each rank sends all of it to all others; if it is longer, each
/// rank reduces one part and sends the result to all. The reason is that Open MPI's nonblocking
/// allreduce with so few ranks reduces everything on the first rank. With more ranks MPI_Iallreduce
/// is used. Its input is a copy, because the in-place version sends everything to one rank and
/// back.
class AllreducePieces {
 public:
  AllreducePieces(MPI_Comm comm, int rank, int ranks, Device& device);

  /// Begins an allreduce of x. The previous allreduce must have ended.
  void begin(const Tensor& x, Reduce op);
  bool ended() const { return ended_ == count_; }
  /// Makes progress without blocking. Returns false if nothing has advanced.
  bool progress();

 private:
  static constexpr std::size_t kMaxInFlight = 8;

  /// A piece in flight, with the memory that MPI may still read or write.
  struct Slot {
    enum Step { idle, native, exchange, scatter, gather } step = idle;
    MPI_Request request = MPI_REQUEST_NULL;
    Tensor piece;
    Tensor buffer;  // for the values of other ranks, or for a copy
    struct Side {
      std::vector<int> counts, offsets;  // by rank, in elements
    } sent, received;
  };

  void begin_piece(Slot& slot);
  void begin_native(Slot& slot);
  void begin_exchange(Slot& slot);
  void begin_scatter(Slot& slot);
  void begin_gather(Slot& slot);
  void send_to_all(Slot& slot, const Tensor& buffer);
  bool step_ended(Slot& slot);
  void end_slot(Slot& slot);
  void reduce_from_all(const Tensor& x, const Tensor& buffer);
  void finish(const Tensor& sum);
  Tensor own_part(const Slot& slot) const;
  Tensor buffer_for(Slot& slot, std::size_t numel);

  const MPI_Comm comm_;
  const std::size_t rank_, ranks_;
  Device& device_;
  const bool direct_;
  Tensor x_;
  Reduce op_ = Reduce::sum;
  std::size_t count_ = 0, begun_ = 0, ended_ = 0;  // numbers of pieces
  std::size_t slots_used_ = 0, next_slot_ = 0;     // slots in use, and the slot to test next
  std::array<Slot, kMaxInFlight> slots_;
};

}  // namespace trigram::mpi

#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "core/communicator.h"
#include "core/device.h"

namespace trigram::mpi {

/// An allreduce in f32 by MPI's nonblocking collectives, piece by piece: a few are under way at a
/// time, and stay in the caches.
///
/// Between two or three ranks all is sent directly (MPI_Ialltoallv), and added up in the order of
/// ranks: a short vector as a whole, each rank to all; of a longer one each rank adds up a part,
/// and sends it to all. Open MPI's nonblocking allreduce has the first of so few add up everything.
/// Between more ranks it is MPI_Iallreduce, from a copy: one that works in place sends all to one
/// rank and back.
class AllreducePieces {
 public:
  AllreducePieces(MPI_Comm comm, int rank, int ranks, Device& device);

  /// Only when the one before has ended.
  void begin(const Tensor& x, Reduce op);
  bool ended() const { return ended_ == count_; }
  /// Without waiting. False when nothing has moved.
  bool move_on();

 private:
  static constexpr std::size_t kMostUnderWay = 8;

  /// A piece that is under way, and what MPI may still read or write.
  struct Slot {
    enum Step { idle, native, exchange, scatter, gather } step = idle;
    MPI_Request request = MPI_REQUEST_NULL;
    Tensor piece;
    Tensor room;  // for what others send, or for a copy
    struct Side {
      std::vector<int> counts, offsets;  // by rank, in elements
    } sent, received;
  };

  void begin_piece(Slot& slot);
  void begin_native(Slot& slot);
  void begin_exchange(Slot& slot);
  void begin_scatter(Slot& slot);
  void begin_gather(Slot& slot);
  void send_to_all(Slot& slot, const Tensor& room);
  bool step_ended(Slot& slot);
  void end_slot(Slot& slot);
  void reduce_from_all(const Tensor& x, const Tensor& room);
  void finish(const Tensor& sum);
  Tensor own_part(const Slot& slot) const;
  Tensor room_for(Slot& slot, std::size_t numel);

  const MPI_Comm comm_;
  const std::size_t rank_, ranks_;
  Device& device_;
  const bool direct_;
  Tensor x_;
  Reduce op_ = Reduce::sum;
  std::size_t count_ = 0, begun_ = 0, ended_ = 0;  // pieces
  std::size_t under_way_ = 0, turn_ = 0;           // slots, and the one whose turn it is
  std::array<Slot, kMostUnderWay> slots_;
};

}  // namespace trigram::mpi

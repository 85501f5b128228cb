#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/communicator.h"
#include "runtime/host/clock.h"
#include "runtime/host/endpoint.h"
#include "runtime/mpi/collective.h"
#include "runtime/mpi/outbox.h"

namespace trigram::mpi {

class MpiWorld;

/// Messages between same-named streams, over the communicator that these have to themselves. Every
/// tensor is preceded by a header that says what it is, so that halves that do not match are told
/// apart from a slow network. Sends to where the world buffers them are over when the outbox has
/// taken them. Others are synchronous: they end when they are received; eager ones (see EagerSends)
/// when MPI has taken them, or, if the transport is one of rendezvous, when they should have
/// arrived.
class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(MpiWorld& world, MPI_Comm comm, host::Endpoint& self);
  ~MpiCommunicator() override;
  int rank() const override { return self_.rank; }
  int size() const override;
  void transfer(std::span<const Transfer> batch) override;
  /// MPI's, on what MpiCollective can; not of tensors that are to be padded, nor where the world
  /// adds latencies, which MPI's messages would not have.
  bool native(const Collective& collective) override;
  std::int64_t buffered(std::size_t nbytes) const override;
  /// Returns when all that was sent has been received.
  void flush();

 private:
  /// A message of MPI: a piece of one half of the batch.
  struct Piece {
    std::size_t half;
    bool header;
    void* data;
    std::size_t bytes;
    bool last;  // with it, the half is received
  };
  /// The call in progress, with all that MPI may still read or write.
  struct Call {
    std::vector<host::PostedTransfer> halves;
    std::vector<Tensor> tensors;  // keeps their memory, whatever becomes of the caller
    std::vector<Tensor> staged;
    std::vector<Header> headers;
    std::vector<int> open;              // pieces of each half that are under way
    std::vector<std::size_t> untaken;   // sends that have no room yet, by their halves
    std::vector<std::size_t> delayed;   // sends that have not left yet, by their halves
    host::Clock::time_point leave_at;   // when they do
    host::Clock::time_point arrive_at;  // when the last of the eager sends that have left does
    std::vector<Piece> pieces;
    std::vector<MPI_Request> requests;
    std::vector<Piece> waiting;  // to be sent when what is before them has arrived
    std::vector<std::byte> filler;
  };

  void post_or_delay(std::size_t half);
  void post_delayed();
  void post_or_buffer(std::size_t half);
  bool buffer_or_post(std::size_t half);
  std::size_t take_what_fits();
  void post(std::size_t half);
  std::size_t filler_of(const Tensor& x) const;
  void post_piece(std::size_t half, bool header, void* data, std::size_t bytes, bool last);
  std::size_t largest_piece(int peer) const;
  bool has_room(const Piece& piece) const;
  bool has_waiting(int peer) const;
  void start(const Piece& piece);
  void start_waiting();
  void await_completion();
  void await_arrival();
  std::unique_ptr<MpiCollective> make_collective() const;
  void await(MpiCollective& collective);
  std::size_t complete();
  void check_header(std::size_t half);

  MpiWorld& world_;
  const MPI_Comm comm_;
  host::Endpoint& self_;
  std::unique_ptr<Outbox> outbox_;
  std::unique_ptr<Call> call_ = std::make_unique<Call>();  // kept for its memory
  std::unique_ptr<MpiCollective> collective_;
  std::vector<std::size_t> on_the_way_;  // bytes to each rank
  std::vector<int> completed_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace trigram::mpi

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

/// Messages between same-named streams, over an MPI communicator that only these streams use. A
/// header that describes the tensor precedes its values, so that two halves that do not match are
/// not mistaken for a slow network. If the world buffers messages to a peer, a send to it completes
/// when the outbox has accepted it. Other sends are synchronous: they complete when they are
/// received. Eager sends (see EagerSends) complete when MPI has accepted them or, with a rendezvous
/// transport, at the time when they should have arrived.
class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(MpiWorld& world, MPI_Comm comm, host::Endpoint& self);
  ~MpiCommunicator() override;
  int rank() const override { return self_.rank; }
  int size() const override;
  void transfer(std::span<const Transfer> batch) override;
  /// Uses MPI's collective if MpiCollective can run it. Returns false for tensors that need
  /// padding, and in worlds that add latencies, because MPI's own messages would not be delayed.
  bool native(const Collective& collective) override;
  std::int64_t buffered(std::size_t nbytes) const override;
  /// Returns when everything that was sent has been received.
  void flush();

 private:
  /// One MPI message: a piece of a half of the batch.
  struct Piece {
    std::size_t half;
    bool header;
    void* data;
    std::size_t bytes;
    bool last;  // the completion of this piece means that the half was received
  };
  /// The current call, with everything that MPI may still read or write.
  struct Call {
    std::vector<host::PostedTransfer> halves;
    std::vector<Tensor> tensors;  // keep the memory alive even if the caller is destroyed
    std::vector<Tensor> staged;
    std::vector<Header> headers;
    std::vector<int> open;  // for each half, the number of its pieces that are not complete
    std::vector<std::size_t> waiting_for_outbox;  // indices of sends without room in the outbox
    std::vector<std::size_t> delayed;             // indices of sends that have not left yet
    host::Clock::time_point leave_at;             // time at which the delayed sends leave
    host::Clock::time_point arrive_at;  // time at which the last eager send so far arrives
    std::vector<Piece> pieces;          // one for each request
    std::vector<MPI_Request> requests;
    std::vector<Piece> waiting;  // pieces to send once earlier pieces have arrived
    std::vector<std::byte> filler;
  };

  void post_or_delay(std::size_t half);
  void post_delayed();
  void send_in_order(std::size_t half);
  bool try_send(std::size_t half);
  std::size_t retry_waiting_sends();
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
  std::unique_ptr<Call> call_ = std::make_unique<Call>();  // reused to keep its memory
  std::unique_ptr<MpiCollective> collective_;
  std::vector<std::size_t> in_flight_;  // bytes in flight to each rank
  std::vector<int> completed_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace trigram::mpi

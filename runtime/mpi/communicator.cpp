#include "runtime/mpi/communicator.h"

#include <algorithm>

#include "core/wait_text.h"
#include "runtime/host/back_off.h"
#include "runtime/host/endpoint.h"
#include "runtime/mpi/session.h"
#include "runtime/mpi/world.h"

namespace trigram::mpi {
namespace {

constexpr int kTransferTag = 0;
// Long messages on a slow network are sent in pieces, so that the watchdog sees progress. Pieces
// are so large that their overhead is negligible. Few of them are in flight at the same time,
// because they would also end at the same time.
constexpr std::size_t kLargestPiece = std::size_t{8} << 20;
static_assert(kLargestPiece == Outbox::kLongest, "the outbox sends messages of one piece");
constexpr std::size_t kMaxPiecesInFlight = 2;  // to a rank; shorter pieces count for their bytes

}  // namespace

MpiCommunicator::MpiCommunicator(MpiWorld& world, MPI_Comm comm, host::Endpoint& self)
    : world_(world),
      comm_(comm),
      self_(self),
      outbox_(std::make_unique<Outbox>(comm, kTransferTag, size(), world.transport())),
      collective_(make_collective()),
      in_flight_(static_cast<std::size_t>(size())) {}

bool MpiCommunicator::native(const Collective& collective) {
  host::check_on_stream(self_);
  world_.check_not_failed();
  if (world_.adds_latency()) return false;
  const bool padded = world_.padded() && collective.x.priced_nbytes() > collective.x.nbytes();
  if (padded || !MpiCollective::supports(collective, size())) return false;
  try {
    collective_->begin(collective);
    await(*collective_);
  } catch (...) {
    static_cast<void>(collective_.release());  // leaked, like the call of a failed transfer
    collective_ = make_collective();
    throw;
  }
  return true;
}

std::unique_ptr<MpiCollective> MpiCommunicator::make_collective() const {
  return std::make_unique<MpiCollective>(comm_, rank(), size(), world_.device(rank()));
}

void MpiCommunicator::await(MpiCollective& collective) {
  host::BackOff back_off = host::BackOff::for_messages();
  bool reported = false;  // the endpoint shows this wait to the watchdog
  while (!collective.ended()) {
    if (collective.progress()) {
      back_off.reset();
      continue;
    }
    world_.check_not_failed();
    if (back_off.sleeping() && !reported) {
      self_.set_state(host::Endpoint::State::blocked, {.kind = Wait::collective});
      reported = true;
    }
    back_off.pause();
  }
  if (reported) self_.end_wait();
}

int MpiCommunicator::size() const { return world_.layout().ranks(); }

void MpiCommunicator::transfer(std::span<const Transfer> batch) {
  host::check_on_stream(self_);
  for (const Transfer& t : batch) check_peer(rank(), t.peer, size(), self_.stream);
  world_.check_not_failed();
  host::make_halves(batch, call_->halves, call_->staged);
  call_->tensors.clear();
  for (const Transfer& t : batch) call_->tensors.push_back(t.tensor);
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (call_->halves[i].tensor == &batch[i].tensor) call_->halves[i].tensor = &call_->tensors[i];
  call_->headers.assign(batch.size(), {});
  call_->open.assign(batch.size(), 0);
  call_->waiting_for_outbox.clear();
  call_->delayed.clear();
  call_->arrive_at = {};
  call_->pieces.clear();
  call_->requests.clear();
  call_->waiting.clear();
  try {
    outbox_->forget_received();
    for (const Transfer::Kind kind : {Transfer::recv, Transfer::send})
      for (std::size_t i = 0; i < batch.size(); ++i)
        if (call_->halves[i].kind == kind) post_or_delay(i);
    await_completion();
    await_arrival();
  } catch (...) {
    {
      std::lock_guard lock(self_.mutex);
      self_.batch = {};
    }
    // MPI may still write to the memory of this call, so it is leaked. The world has ended, so this
    // happens at most once per stream.
    static_cast<void>(call_.release());
    call_ = std::make_unique<Call>();
    throw;
  }
}

/// A message to another node leaves when the added latency is over. Receives are posted at once, so
/// that they never delay a message.
void MpiCommunicator::post_or_delay(std::size_t half) {
  const host::PostedTransfer& h = call_->halves[half];
  const host::Clock::duration latency = world_.latency_to(h.peer);
  if (h.kind == Transfer::recv) return post(half);
  if (latency == latency.zero()) return send_in_order(half);
  if (call_->delayed.empty()) call_->leave_at = host::Clock::now() + latency;
  call_->delayed.push_back(half);
}

void MpiCommunicator::post_delayed() {
  for (const std::size_t half : call_->delayed) send_in_order(half);
  call_->delayed.clear();
}

std::size_t MpiCommunicator::filler_of(const Tensor& x) const {
  const std::size_t priced = world_.padded() ? x.priced_nbytes() : 0;
  return priced - std::min(priced, payload_of(x));
}

void MpiCommunicator::post(std::size_t half) {
  const Tensor& x = *call_->halves[half].tensor;
  Header& header = call_->headers[half];
  if (call_->halves[half].kind == Transfer::send) header = header_of(x);
  const std::size_t payload = payload_of(x);
  const std::size_t filler = filler_of(x);
  const std::size_t largest = largest_piece(call_->halves[half].peer);
  post_piece(half, true, &header, sizeof header, payload + filler == 0);
  for (std::size_t at = 0; at < payload; at += largest)
    post_piece(half, false, x.data() + at, std::min(payload - at, largest), true);
  if (filler > 0) call_->filler.resize(kLargestPiece);
  for (std::size_t at = 0; at < filler; at += largest)
    post_piece(half, false, call_->filler.data(), std::min(filler - at, largest), true);
  start_waiting();
}

void MpiCommunicator::post_piece(std::size_t half, bool header, void* data, std::size_t bytes,
                                 bool last) {
  ++call_->open[half];
  const Piece piece{half, header, data, bytes, last};
  if (call_->halves[half].kind == Transfer::recv) start(piece);
  else call_->waiting.push_back(piece);
}

std::size_t MpiCommunicator::largest_piece(int peer) const {
  return world_.eager_to(peer) ? world_.eager().piece_nbytes : kLargestPiece;
}

bool MpiCommunicator::has_room(const Piece& piece) const {
  const int peer = call_->halves[piece.half].peer;
  const std::size_t nbytes = in_flight_[static_cast<std::size_t>(peer)];
  return nbytes == 0 || nbytes + piece.bytes <= kMaxPiecesInFlight * largest_piece(peer);
}

void MpiCommunicator::start(const Piece& piece) {
  const host::PostedTransfer& h = call_->halves[piece.half];
  MPI_Request request;
  const int count = static_cast<int>(piece.bytes);
  if (h.kind == Transfer::recv)
    check(MPI_Irecv(piece.data, count, MPI_BYTE, h.peer, kTransferTag, comm_, &request),
          "MPI_Irecv");
  else if (piece.last && !world_.eager_to(h.peer))
    check(MPI_Issend(piece.data, count, MPI_BYTE, h.peer, kTransferTag, comm_, &request),
          "MPI_Issend");
  else
    check(MPI_Isend(piece.data, count, MPI_BYTE, h.peer, kTransferTag, comm_, &request),
          "MPI_Isend");
  if (h.kind == Transfer::send) in_flight_[static_cast<std::size_t>(h.peer)] += piece.bytes;
  call_->pieces.push_back(piece);
  call_->requests.push_back(request);
}

/// Waiting pieces leave in order for each peer, because receives are matched in that order.
void MpiCommunicator::start_waiting() {
  std::vector<int> full;
  std::erase_if(call_->waiting, [&](const Piece& piece) {
    const int peer = call_->halves[piece.half].peer;
    if (std::ranges::find(full, peer) != full.end()) return false;
    if (!has_room(piece)) {
      full.push_back(peer);
      return false;
    }
    start(piece);
    return true;
  });
}

void MpiCommunicator::await_completion() {
  host::BackOff back_off = host::BackOff::for_messages();
  bool reported = false;  // the endpoint shows this wait to the watchdog
  for (std::size_t done = 0; done < call_->requests.size() || !call_->delayed.empty() ||
                             !call_->waiting_for_outbox.empty() || !call_->waiting.empty();) {
    const bool leave = !call_->delayed.empty() && host::Clock::now() >= call_->leave_at;
    if (leave) post_delayed();
    const std::size_t now_done = complete();
    done += now_done;
    const bool taken = retry_waiting_sends() > 0;
    if (leave || taken || now_done > 0) {
      back_off.reset();
      continue;
    }
    world_.check_not_failed();
    if (back_off.sleeping() && !reported) {
      std::lock_guard lock(self_.mutex);
      self_.batch = call_->halves;
      self_.state = host::Endpoint::State::blocked;
      self_.wait = {.kind = Wait::message};
      reported = true;
    }
    back_off.pause(call_->delayed.empty() ? host::Clock::time_point::max() : call_->leave_at);
  }
  if (!reported) return;
  self_.end_wait();
  std::lock_guard lock(self_.mutex);
  self_.batch = {};
}

/// Waits until the time at which the eager sends of this call should have arrived.
void MpiCommunicator::await_arrival() {
  host::BackOff back_off = host::BackOff::for_messages();
  while (host::Clock::now() < call_->arrive_at) {
    world_.check_not_failed();
    world_.idle();  // delivers control messages meanwhile
    back_off.pause(call_->arrive_at);
  }
}

/// Returns the number of pieces that have completed since the previous call.
std::size_t MpiCommunicator::complete() {
  completed_.resize(call_->requests.size());
  statuses_.resize(call_->requests.size());
  int done = 0;
  const int code = MPI_Testsome(static_cast<int>(call_->requests.size()), call_->requests.data(),
                                &done, completed_.data(), statuses_.data());
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) check(code, "MPI_Testsome");
  if (done == MPI_UNDEFINED) return 0;
  const auto piece_at = [&](int i) -> const Piece& {
    return call_->pieces[static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)])];
  };
  // Headers are checked first: a mismatch in a header explains why a payload did not fit.
  for (int i = 0; i < done; ++i)
    if (const Piece& p = piece_at(i); p.header && call_->halves[p.half].kind == Transfer::recv)
      check_header(p.half);
  for (int i = 0; code == MPI_ERR_IN_STATUS && i < done; ++i)
    check(statuses_[static_cast<std::size_t>(i)].MPI_ERROR, "a message");
  if (done == 0) return 0;
  std::unique_lock lock(self_.mutex);
  for (int i = 0; i < done; ++i) {
    const Piece& piece = piece_at(i);
    host::PostedTransfer& half = call_->halves[piece.half];
    half.done = --call_->open[piece.half] == 0;
    if (half.kind != Transfer::send) continue;
    in_flight_[static_cast<std::size_t>(half.peer)] -= piece.bytes;
    if (half.done && world_.awaits_arrival_at(half.peer))
      call_->arrive_at = host::Clock::now() + world_.eager_latency();
  }
  // This counts as progress for the watchdog, although the stream still waits.
  if (self_.state == host::Endpoint::State::blocked) ++self_.waits_ended;
  lock.unlock();
  start_waiting();
  return static_cast<std::size_t>(done);
}

void MpiCommunicator::check_header(std::size_t half) {
  const Header& sent = call_->headers[half];
  const host::PostedTransfer& mine = call_->halves[half];
  if (sent == header_of(*mine.tensor)) return;
  static const std::shared_ptr<std::byte> unused(new std::byte);
  const auto dtype = static_cast<DType>(sent.dtype);
  const Tensor theirs = sent.phantom ? Tensor::phantom(sent.numel, dtype, sent.priced_numel)
                                     : Tensor(unused, sent.numel, dtype, sent.priced_numel);
  check_match(theirs, mine.peer, *mine.tensor, rank(), self_.stream);
}

}  // namespace trigram::mpi

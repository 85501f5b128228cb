#include "cuda/nccl/communicator.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/check.h"
#include "cuda/nccl/error.h"
#include "cuda/nccl/profiler_range.h"
#include "cuda/support/error.h"
#include "cuda/support/launch.h"

namespace trigram::cuda {
namespace {

constexpr std::size_t kFillerPiece = std::size_t{16} << 20;

// The number of streams of a rank whose NCCL kernels must fit on the GPU at the same time.
constexpr int kConcurrentStreams = 4;
// On no GPU so far was NCCL faster with more blocks than this.
constexpr int kMaxBlocks = 32;

/// Ranks issue the operations of their streams in order of arrival, so the kernels of two
/// communicators may start in different orders on different ranks. That is safe if no kernel can
/// keep another off the GPU, so each communicator uses at most its share of the multiprocessors.
ncclConfig_t configuration() {
  const int multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.maxCTAs = std::clamp(multiprocessors / kConcurrentStreams, 1, kMaxBlocks);
  return config;
}

// Tags of the messages that describe halves to their peers. They are negative, because algorithms
// use tags from 0 on.
constexpr int kDescribes[] = {-101, -102};  // by Transfer::Kind

/// Encodes a tensor as a control message: a = numel, b = priced_numel * 8 + dtype * 2 + is_phantom.
Message tensor_description(const Tensor& x, int peer) {
  const auto kind = static_cast<std::int64_t>(x.dtype()) * 2 + x.is_phantom();
  return {peer, static_cast<std::int64_t>(x.numel()),
          static_cast<std::int64_t>(x.priced_numel()) * 8 + kind};
}

/// A tensor with the described size and type. Its values are on the other rank.
Tensor from_description(const Message& m) {
  static const std::shared_ptr<std::byte> placeholder(new std::byte);
  const auto kind = m.b % 8;
  const auto dtype = static_cast<DType>(kind / 2);
  const auto numel = static_cast<std::size_t>(m.a), priced = static_cast<std::size_t>(m.b / 8);
  return kind % 2 ? Tensor::phantom(numel, dtype, priced)
                  : Tensor(placeholder, numel, dtype, priced);
}

/// An NCCL group. If an exception is thrown before end(), the destructor ends the group, because
/// otherwise all later calls would belong to it.
class Group {
 public:
  Group() { check(ncclGroupStart(), "ncclGroupStart"); }
  ~Group() {
    if (open_) ncclGroupEnd();
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  void end() {
    open_ = false;
    check(ncclGroupEnd(), "ncclGroupEnd");
  }

 private:
  bool open_ = true;
};

bool overlap(const Tensor& a, const Tensor& b) {
  return a.data() < b.data() + b.nbytes() && b.data() < a.data() + a.nbytes();
}

}  // namespace

/// One call of ncclSend or ncclRecv.
struct NcclCommunicator::Half {
  Transfer::Kind kind;
  std::byte* data;
  std::size_t nbytes;
  int peer;
  Tensor tensor;  // keeps the memory alive until the call
};

void NcclHandle::check() const {
  if (!comm) return;
  ncclResult_t state = ncclSuccess;
  cuda::check(ncclCommGetAsyncError(comm, &state), "ncclCommGetAsyncError");
  if (state != ncclInProgress) cuda::check(state, "NCCL, between two calls");
}

void NcclHandle::abort() noexcept {
  if (comm) ncclCommAbort(comm);
  comm = nullptr;
}

void NcclHandle::destroy() noexcept {
  if (comm) ncclCommDestroy(comm);
  comm = nullptr;
}

NcclCommunicator::NcclCommunicator(const NcclOptions& options, const Context& context,
                                   const ncclUniqueId& id, std::shared_ptr<NcclHandle> handle)
    : options_(options), context_(context), handle_(std::move(handle)) {
  if (options.padded) filler_ = context_.stream.device().empty(kFillerPiece, DType::u8);
  connect(id);
}

void NcclCommunicator::connect(const ncclUniqueId& id) {
  const auto size = static_cast<std::size_t>(context_.size);
  const Tensor buffer = context_.stream.device().empty(2 * size);
  // The first message between two ranks connects them. It blocks until both ranks have sent or
  // received it, so all pairs exchange a message at start-up.
  std::vector<Half> halves;
  for (std::size_t peer = 0; peer < size; ++peer) {
    const Tensor out = buffer.slice(peer, 1), in = buffer.slice(size + peer, 1);
    halves.push_back({Transfer::send, out.data(), out.nbytes(), static_cast<int>(peer), out});
    halves.push_back({Transfer::recv, in.data(), in.nbytes(), static_cast<int>(peer), in});
  }
  std::shared_ptr<AcceleratorEvent> connected;
  context_.issuer.run_with_timeout(
      context_.waiter, {.kind = Wait::connection, .name = context_.stream_name},
      fmt::format("connecting rank {} with the other ranks for stream {}", context_.rank,
                  context_.stream_name),
      [handle = handle_, queue = context_.queue, id, ranks = context_.size, rank = context_.rank,
       halves = std::move(halves)] {
        ncclConfig_t config = configuration();
        check(ncclCommInitRankConfig(&handle->comm, ranks, id, rank, &config),
              "ncclCommInitRankConfig");
        issue(handle->comm, halves, queue);
      },
      [&] {
        if (!connected) connected = context_.stream.record();
        return connected->reached();
      });
}

/// Issues one batch. Called on the issuing thread.
void NcclCommunicator::issue(ncclComm_t comm, const std::vector<Half>& halves, cudaStream_t queue) {
  Group group;
  for (const Half& h : halves) {
    if (h.kind == Transfer::send)
      check(ncclSend(h.data, h.nbytes, ncclUint8, h.peer, comm, queue), "ncclSend");
    else check(ncclRecv(h.data, h.nbytes, ncclUint8, h.peer, comm, queue), "ncclRecv");
  }
  group.end();
}

void NcclCommunicator::transfer(std::span<const Transfer> batch) {
  for (const Transfer& t : batch)
    check_peer(context_.rank, t.peer, context_.size, context_.stream_name);
  const ProfilerRange range("transfer", context_.stream_name);
  if (options_.checked) await_matching_halves(batch);
  std::vector<Half> halves = halves_of(batch);
  if (halves.empty()) return;
  issue_and_limit([halves = std::move(halves), queue = context_.queue](ncclComm_t comm) {
    issue(comm, halves, queue);
  });
}

/// Runs `call` on the issuing thread, unless the communicator was aborted. Then waits as
/// `run_ahead` requires.
void NcclCommunicator::issue_and_limit(std::function<void(ncclComm_t)> call) {
  context_.issuer.run(context_.waiter, {.kind = Wait::accelerator},
                      [handle = handle_, call = std::move(call)] {
                        if (handle->comm) call(handle->comm);
                      });
  limit_run_ahead();
}

/// Returns when, for each message in the batch, the other half is ready and matches.
void NcclCommunicator::await_matching_halves(std::span<const Transfer> batch) {
  for (const Transfer& t : batch) {
    const Message m = tensor_description(t.tensor, t.peer);
    context_.control.post(t.peer, kDescribes[t.kind], m.a, m.b);
  }
  for (const Transfer& t : batch) {
    const auto kind = t.kind == Transfer::recv ? Wait::message : Wait::receiver;
    context_.waiter.await({.kind = kind, .peer = t.peer}, [&] { return other_half_matches(t); });
  }
}

/// The next message from `peer` with this tag, if it has arrived. Messages from other peers are
/// kept for later.
std::optional<Message> NcclCommunicator::next_description(int tag, int peer) {
  auto& received = received_descriptions_[{tag, peer}];
  while (received.empty()) {
    const auto message = context_.control.poll(tag);
    if (!message) return std::nullopt;
    received_descriptions_[{tag, message->source}].push_back(*message);
  }
  const Message first = received.front();
  received.pop_front();
  return first;
}

/// True if the description of the other half has arrived and matches; the description is then
/// removed. Throws if it does not match.
bool NcclCommunicator::other_half_matches(const Transfer& mine) {
  const Transfer::Kind other = mine.kind == Transfer::send ? Transfer::recv : Transfer::send;
  const auto received = next_description(kDescribes[other], mine.peer);
  if (!received) return false;
  const Tensor theirs = from_description(*received);
  if (mine.kind == Transfer::recv)
    check_match(theirs, mine.peer, mine.tensor, context_.rank, context_.stream_name);
  else check_match(mine.tensor, context_.rank, theirs, mine.peer, context_.stream_name);
  return true;
}

std::vector<NcclCommunicator::Half> NcclCommunicator::halves_of(std::span<const Transfer> batch) {
  std::vector<Half> halves;
  for (const Transfer& t : batch) {
    Tensor values = t.tensor;
    // A message carries the values at the time of the call, even if the batch receives into its
    // tensor.
    const auto overwrites = [&](const Transfer& other) {
      return other.kind == Transfer::recv && !other.tensor.is_phantom() &&
             overlap(values, other.tensor);
    };
    if (t.kind == Transfer::send && !values.is_phantom() &&
        std::ranges::any_of(batch, overwrites)) {
      values = context_.stream.device().empty_like(t.tensor);
      context_.stream.device().copy(values, t.tensor);
    }
    add_halves(halves, t, values);
  }
  return halves;
}

/// Adds the NCCL messages of a tensor: its values, then filler up to its priced size.
void NcclCommunicator::add_halves(std::vector<Half>& halves, const Transfer& transfer,
                                  const Tensor& values) {
  const std::size_t payload = values.is_phantom() ? 0 : values.nbytes();
  if (payload > 0) halves.push_back({transfer.kind, values.data(), payload, transfer.peer, values});
  const std::size_t priced = options_.padded ? values.priced_nbytes() : 0;
  for (std::size_t at = payload; at < priced; at += kFillerPiece)
    halves.push_back({transfer.kind, filler_.data(), std::min(kFillerPiece, priced - at),
                      transfer.peer, filler_});
}

void NcclCommunicator::limit_run_ahead() {
  in_flight_.push_back(context_.stream.record());
  while (in_flight_.size() > static_cast<std::size_t>(options_.run_ahead)) {
    context_.waiter.await({.kind = Wait::accelerator}, [this] {
      context_.issuer.check();
      return in_flight_.front()->reached();
    });
    in_flight_.pop_front();
  }
}

}  // namespace trigram::cuda

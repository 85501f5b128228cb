#include <mpi.h>
#include <nccl.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "tests/cuda_emulation/queue.h"
#include "tests/nccl_emulation/launch_order.h"
#include "tests/nccl_emulation/progress.h"

namespace nccl_emulation {

struct Communicator {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
  std::atomic<bool> aborted = false;
  std::atomic<ncclResult_t> error = ncclSuccess;
};

namespace {

/// Starts an MPI request on a communicator.
using Start = std::function<int(MPI_Comm, MPI_Request*)>;

/// Called when all requests of a group are complete.
using Finish = std::function<void()>;

/// The NCCL calls of one group on one stream; they form one operation of the stream.
struct Group {
  Communicator* comm = nullptr;
  cudaStream_t stream = nullptr;
  std::vector<Start> starts = {};
  std::vector<Finish> finishes = {};
};
thread_local int group_depth = 0;
thread_local std::vector<Group> groups;

class Exchange {
 public:
  explicit Exchange(Group group) : group_(std::move(group)) {}
  ~Exchange() { LaunchOrder::get().remove(ticket_); }
  /// Returns true if the group has ended.
  bool advance() {
    if (group_.comm->aborted) return true;  // MPI keeps the requests and may still write
    if (!LaunchOrder::get().may_run(ticket_)) return false;
    int code = started_ ? MPI_SUCCESS : start(), done = 0;
    if (code == MPI_SUCCESS)
      code = MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done,
                         MPI_STATUSES_IGNORE);
    if (code != MPI_SUCCESS) group_.comm->error = ncclRemoteError;
    if (done)
      for (const Finish& finish : group_.finishes) finish();
    return done != 0 || code != MPI_SUCCESS;
  }

 private:
  int start() {
    started_ = true;
    for (const Start& start : group_.starts)
      if (const int code = start(group_.comm->comm, &requests_.emplace_back())) return code;
    return MPI_SUCCESS;
  }
  Group group_;
  const LaunchOrder::Ticket ticket_ = LaunchOrder::get().add();
  bool started_ = false;
  std::vector<MPI_Request> requests_;
};

void queue(Group group) {
  const std::lock_guard lock(cuda_emulation::queues().mutex);
  Progress::get().operation_queued();
  const cudaStream_t stream = group.stream;
  cuda_emulation::enqueue(stream, [exchange = std::make_shared<Exchange>(std::move(group))] {
    if (!exchange->advance()) return false;
    Progress::get().operation_done();
    return true;
  });
}

ncclResult_t add(
    ncclComm_t comm, cudaStream_t stream, Start start, Finish finish = [] {}) {
  if (!comm) return ncclInvalidArgument;
  if (group_depth == 0) {
    queue({comm, stream, {std::move(start)}, {std::move(finish)}});
    return ncclSuccess;
  }
  for (Group& group : groups)
    if (group.comm == comm && group.stream == stream) {
      group.starts.push_back(std::move(start));
      group.finishes.push_back(std::move(finish));
      return ncclSuccess;
    }
  groups.push_back({comm, stream, {std::move(start)}, {std::move(finish)}});
  return ncclSuccess;
}

/// For a mean, divides the received sum by the number of ranks.
Finish divide_if_mean(ncclRedOp_t op, ncclComm_t comm, void* sum, std::size_t count) {
  if (op != ncclAvg) return [] {};
  return [values = static_cast<float*>(sum), count, ranks = static_cast<float>(comm->size)] {
    for (std::size_t i = 0; i < count; ++i) values[i] /= ranks;
  };
}

int nbytes_of(std::size_t count, ncclDataType_t type) {
  const std::size_t size = type == ncclFloat32                           ? 4
                           : type == ncclFloat16 || type == ncclBfloat16 ? 2
                                                                         : 1;
  return static_cast<int>(count * size);
}

bool reducible(ncclDataType_t type, ncclRedOp_t op) {
  return type == ncclFloat32 && (op == ncclSum || op == ncclMax || op == ncclAvg);
}
MPI_Op mpi_op(ncclRedOp_t op) { return op == ncclMax ? MPI_MAX : MPI_SUM; }

/// Waits until the request is complete. Returns false if it has failed.
bool complete(MPI_Request request) {
  for (int done = 0;;) {
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (done) return true;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace
}  // namespace nccl_emulation

using nccl_emulation::add;
using nccl_emulation::divide_if_mean;
using nccl_emulation::mpi_op;
using nccl_emulation::nbytes_of;

ncclResult_t ncclGetVersion(int* version) {
  if (const char* const other = std::getenv("TRIGRAM_EMULATED_NCCL")) {
    *version = std::atoi(other);
    return ncclSuccess;
  }
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  *id = {"emulated"};
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  static constexpr std::array kTexts = {"no error",
                                        "unhandled cuda error",
                                        "unhandled system error",
                                        "internal error",
                                        "invalid argument",
                                        "invalid usage",
                                        "remote process exited or there was a network error",
                                        "NCCL operation in progress"};
  return kTexts.at(result);
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId, int rank) {
  auto result = std::make_unique<nccl_emulation::Communicator>();
  MPI_Comm_rank(MPI_COMM_WORLD, &result->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &result->size);
  if (result->rank != rank || result->size != ranks) return ncclInvalidArgument;
  MPI_Request request;
  if (MPI_Comm_idup(MPI_COMM_WORLD, &result->comm, &request) != MPI_SUCCESS) return ncclSystemError;
  if (!nccl_emulation::complete(request)) return ncclRemoteError;
  MPI_Comm_set_errhandler(result->comm, MPI_ERRORS_RETURN);
  *comm = result.release();
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t*) {
  return ncclCommInitRank(comm, ranks, id, rank);
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  MPI_Comm_free(&comm->comm);
  delete comm;
  return ncclSuccess;
}

/// The communicator is not freed, because queued operations still refer to it. Like NCCL, which
/// frees memory here, waits until the GPU is idle; this includes kernels of other communicators.
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  comm->aborted = true;
  cudaDeviceSynchronize();
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  *error = comm->error;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++nccl_emulation::group_depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (--nccl_emulation::group_depth > 0) return ncclSuccess;
  for (auto& group : nccl_emulation::groups) nccl_emulation::queue(std::move(group));
  nccl_emulation::groups.clear();
  return ncclSuccess;
}

ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return add(comm, stream, [=](MPI_Comm c, MPI_Request* request) {
    // A synchronous send, because ncclSend completes only when the message is received.
    return MPI_Issend(from, nbytes_of(count, type), MPI_BYTE, peer, 0, c, request);
  });
}

ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return add(comm, stream, [=](MPI_Comm c, MPI_Request* request) {
    return MPI_Irecv(to, nbytes_of(count, type), MPI_BYTE, peer, 0, c, request);
  });
}

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  if (!nccl_emulation::reducible(type, op)) return ncclInvalidUsage;
  return add(
      comm, stream,
      [=](MPI_Comm c, MPI_Request* request) {
        return MPI_Iallreduce(from == to ? MPI_IN_PLACE : from, to, static_cast<int>(count),
                              MPI_FLOAT, mpi_op(op), c, request);
      },
      divide_if_mean(op, comm, to, count));
}

ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count_of_each,
                               ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                               cudaStream_t stream) {
  if (!nccl_emulation::reducible(type, op)) return ncclInvalidUsage;
  // NCCL leaves the other parts unchanged. MPI does not guarantee this for an operation in place.
  const auto input = std::make_shared<std::vector<float>>();
  return add(
      comm, stream,
      [=](MPI_Comm c, MPI_Request* request) {
        const auto* const values = static_cast<const float*>(from);
        input->assign(values, values + count_of_each * static_cast<std::size_t>(comm->size));
        return MPI_Ireduce_scatter_block(input->data(), to, static_cast<int>(count_of_each),
                                         MPI_FLOAT, mpi_op(op), c, request);
      },
      divide_if_mean(op, comm, to, count_of_each));
}

ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count_of_each,
                           ncclDataType_t type, ncclComm_t comm, cudaStream_t stream) {
  const int nbytes = nbytes_of(count_of_each, type);
  const bool in_place = from == static_cast<char*>(to) + comm->rank * nbytes;
  return add(comm, stream, [=](MPI_Comm c, MPI_Request* request) {
    return MPI_Iallgather(in_place ? MPI_IN_PLACE : from, nbytes, MPI_BYTE, to, nbytes, MPI_BYTE, c,
                          request);
  });
}

ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream) {
  if (from != to) return ncclInvalidUsage;
  return add(comm, stream, [=](MPI_Comm c, MPI_Request* request) {
    return MPI_Ibcast(to, nbytes_of(count, type), MPI_BYTE, root, c, request);
  });
}

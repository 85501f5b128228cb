#pragma once

#include <cuda_runtime.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

/// The streams and events of the emulation. It is lazy: an operation runs when the host waits for
/// something that cannot come before it, and not sooner, so that whoever forgets to wait meets what
/// is not done yet.
namespace cuda_emulation {

/// An operation of a stream. False: it cannot run yet, ask again.
using Operation = std::function<bool()>;

inline constexpr int kAnyDevice = -1;  // of the null stream
/// Whether the calling thread has chosen this device: CUDA launches kernels, and records events, on
/// no other.
inline bool is_current(int device) {
  int current = 0;
  cudaGetDevice(&current);
  return device == kAnyDevice || device == current;
}

struct Stream {
  std::deque<Operation> queue;
  int device = kAnyDevice;
};

/// A place in a stream's queue.
struct Marker {
  std::shared_ptr<Stream> stream;
  bool reached = false;
  double seconds = 0;
};

struct Event {
  int device = kAnyDevice;
  std::shared_ptr<Marker> marker;  // null: never recorded
};

/// All that one process's emulated GPU has queued. Every member is guarded by `mutex`, and so is
/// the running of operations: one at a time, whichever thread of the host makes it run.
struct Queues {
  std::recursive_mutex mutex;
  std::deque<std::shared_ptr<Stream>> streams;
  std::shared_ptr<Stream> null_stream = std::make_shared<Stream>();
  std::string kernel_error;  // of a kernel that failed: all that follows fails, too
};
Queues& queues();

/// Appends to `stream`'s queue. For libraries that bring operations of their own, such as an
/// emulated NCCL: an operation may wait, by returning false, for another thread of the host.
void enqueue(cudaStream_t stream, Operation operation);

/// Runs the next operation of a stream, or, where that one waits for another stream, the next of
/// that one. False when nothing could be done.
bool advance(Stream& stream);
/// Runs one operation of every stream that has one to run. For who waits for what another stream,
/// perhaps of another thread of the host, must do first.
bool advance_all();
/// Runs operations until `done()` holds.
void run_until(Stream& stream, const std::function<bool()>& done);

std::shared_ptr<Stream> shared_stream(cudaStream_t stream);

}  // namespace cuda_emulation

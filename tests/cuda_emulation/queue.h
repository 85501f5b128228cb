#pragma once

#include <cuda_runtime.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

/// The streams and events of the emulation. The emulation is lazy: an operation runs only when the
/// host waits for work that depends on it, so code that forgets to wait sees unfinished results.
namespace cuda_emulation {

/// An operation of a stream. Returns false if it cannot run yet and must be retried.
using Operation = std::function<bool()>;

inline constexpr int kAnyDevice = -1;  // device of the null stream
/// True if the calling thread has selected this device: CUDA launches kernels and records events
/// only on the selected device.
inline bool is_current(int device) {
  int current = 0;
  cudaGetDevice(&current);
  return device == kAnyDevice || device == current;
}

struct Stream {
  std::deque<Operation> queue;
  int device = kAnyDevice;
};

/// A position in the queue of a stream.
struct Marker {
  std::shared_ptr<Stream> stream;
  bool reached = false;
  double seconds = 0;  // host time at which it was reached
};

struct Event {
  int device = kAnyDevice;
  std::shared_ptr<Marker> marker;  // null if it was never recorded
};

/// Everything that the process has queued on its emulated GPU. `mutex` guards every member. It also
/// guards the execution of operations, so only one operation runs at a time, whichever host thread
/// triggers it.
struct Queues {
  std::recursive_mutex mutex;
  std::deque<std::shared_ptr<Stream>> streams;
  std::shared_ptr<Stream> null_stream = std::make_shared<Stream>();
  std::string kernel_error;  // error of a failed kernel, after which every operation fails
};
Queues& queues();

/// Appends an operation to the queue of `stream`, also for other libraries, such as the emulated
/// NCCL. By returning false, an operation can wait for another host thread.
void enqueue(cudaStream_t stream, Operation operation);

/// Runs the next operation of a stream. If that operation waits for another stream, runs the next
/// operation of that stream. Returns false if nothing could run.
bool advance(Stream& stream);
/// Runs one operation of every stream that can run one. Returns false if no stream could. It is for
/// waits for work on another stream, possibly of another host thread.
bool advance_all();
/// Runs operations until `done()` holds.
void run_until(Stream& stream, const std::function<bool()>& done);

std::shared_ptr<Stream> shared_stream(cudaStream_t stream);

}  // namespace cuda_emulation

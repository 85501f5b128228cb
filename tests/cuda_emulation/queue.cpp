#include "tests/cuda_emulation/queue.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/cuda_emulation/device_memory.h"
#include "tests/cuda_emulation/status.h"

namespace cuda_emulation {

Queues& queues() {
  static Queues all;
  return all;
}

std::shared_ptr<Stream> shared_stream(cudaStream_t stream) {
  if (!stream) return queues().null_stream;
  for (const auto& known : queues().streams) {
    if (known.get() == stream) return known;
  }
  return nullptr;
}

void enqueue(cudaStream_t stream, Operation operation) {
  const std::lock_guard lock(queues().mutex);
  shared_stream(stream)->queue.push_back(std::move(operation));
}

bool advance(Stream& stream) {
  const std::lock_guard lock(queues().mutex);
  if (stream.queue.empty()) return false;
  const DeviceMemoryAccess access;
  // The operation may itself run the work for which it waits. That counts as progress, too.
  const std::size_t before = operations_run();
  if (stream.queue.front()()) {
    stream.queue.pop_front();
    count_operation();
  }
  return operations_run() != before;
}

bool advance_all() {
  const std::lock_guard lock(queues().mutex);
  bool any = advance(*queues().null_stream);
  const auto streams = queues().streams;
  for (const auto& stream : streams) any |= advance(*stream);
  return any;
}

void run_until(Stream& stream, const std::function<bool()>& done) {
  for (;;) {
    {
      const std::lock_guard lock(queues().mutex);
      const DeviceMemoryAccess access;
      do {
        if (done()) return;
      } while (advance(stream) || advance_all());
    }
    // An operation waits for another host thread.
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::function<bool()> is_empty(const std::shared_ptr<Stream>& stream) {
  return [stream] { return stream->queue.empty(); };
}

}  // namespace
}  // namespace cuda_emulation

using cuda_emulation::queues;
using cuda_emulation::remember;

namespace {

// Calls `use` with an existing stream.
template <class Use>
cudaError_t with_stream(cudaStream_t handle, const Use& use) {
  std::shared_ptr<cuda_emulation::Stream> stream;
  {
    const std::lock_guard lock(queues().mutex);
    stream = cuda_emulation::shared_stream(handle);
  }
  if (!stream) return remember(cudaErrorInvalidResourceHandle);
  use(stream);
  return remember(cuda_emulation::kernel_status());
}

}  // namespace

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  const std::lock_guard lock(queues().mutex);
  queues().streams.push_back(std::make_shared<cuda_emulation::Stream>());
  cudaGetDevice(&queues().streams.back()->device);
  *stream = queues().streams.back().get();
  return remember(cudaSuccess);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return cudaStreamCreate(stream);
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return with_stream(handle, [](const auto& stream) {
    cuda_emulation::run_until(*stream, cuda_emulation::is_empty(stream));
    const std::lock_guard lock(queues().mutex);
    std::erase(queues().streams, stream);
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return with_stream(handle, [](const auto& stream) {
    cuda_emulation::run_until(*stream, cuda_emulation::is_empty(stream));
  });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  bool empty = false;
  const cudaError_t status = with_stream(handle, [&empty](const auto& stream) {
    const std::lock_guard lock(queues().mutex);
    if (!stream->queue.empty() && !cuda_emulation::advance(*stream)) cuda_emulation::advance_all();
    empty = stream->queue.empty();
  });
  return status == cudaSuccess && !empty ? cudaErrorNotReady : status;
}

cudaError_t cudaDeviceSynchronize() {
  const auto& null_stream = queues().null_stream;
  cuda_emulation::run_until(*null_stream, [] {
    const auto empty = [](const auto& stream) { return stream->queue.empty(); };
    return empty(queues().null_stream) && std::ranges::all_of(queues().streams, empty);
  });
  return remember(cuda_emulation::kernel_status());
}

cudaError_t cudaDeviceReset() {
  const std::lock_guard lock(queues().mutex);
  queues().null_stream->queue.clear();
  for (const auto& stream : queues().streams) stream->queue.clear();
  queues().kernel_error.clear();
  return remember(cudaSuccess);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  return with_stream(handle, [event](const auto& stream) {
    const std::lock_guard lock(queues().mutex);
    if (!event->marker || event->marker->stream == stream) return;
    cuda_emulation::enqueue(stream.get(), [marker = event->marker] {
      if (!marker->reached) cuda_emulation::advance(*marker->stream);
      return marker->reached;
    });
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new cuda_emulation::Event;
  cudaGetDevice(&(*event)->device);
  return remember(cudaSuccess);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return remember(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  bool same_device = true;
  const auto status = with_stream(handle, [&](const auto& stream) {
    const std::lock_guard lock(queues().mutex);
    same_device = stream->device == cuda_emulation::kAnyDevice || stream->device == event->device;
    if (!same_device) return;
    event->marker = std::make_shared<cuda_emulation::Marker>();
    event->marker->stream = stream;
    stream->queue.push_back([marker = event->marker] {
      marker->reached = true;
      marker->seconds = cuda_emulation::now();
      marker->stream.reset();
      return true;
    });
  });
  return same_device ? status : remember(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const std::lock_guard lock(queues().mutex);
  const auto marker = event->marker;
  if (!marker) return remember(cuda_emulation::kernel_status());
  // The query does not wait, but the GPU makes progress meanwhile, by one operation.
  if (!marker->reached && !cuda_emulation::advance(*marker->stream)) cuda_emulation::advance_all();
  if (cuda_emulation::kernel_status() != cudaSuccess) {
    return remember(cuda_emulation::kernel_status());
  }
  return marker->reached ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  std::shared_ptr<cuda_emulation::Marker> marker;
  std::shared_ptr<cuda_emulation::Stream> stream;
  {
    const std::lock_guard lock(queues().mutex);
    marker = event->marker;
    if (marker) stream = marker->stream;
  }
  if (stream) cuda_emulation::run_until(*stream, [marker] { return marker->reached; });
  return remember(cuda_emulation::kernel_status());
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  const std::lock_guard lock(queues().mutex);
  if (!begin->marker || !end->marker) return remember(cudaErrorInvalidResourceHandle);
  if (!begin->marker->reached || !end->marker->reached) return cudaErrorNotReady;
  *milliseconds = static_cast<float>((end->marker->seconds - begin->marker->seconds) * 1e3);
  return remember(cudaSuccess);
}

#include "cuda/nccl/stream.h"

#include <chrono>
#include <mutex>

#include "core/check.h"
#include "cuda/support/error.h"

namespace trigram::cuda {
namespace {

constexpr double kMaxOriginAge_s = 2;

double host_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

/// An event in the queue, and its time once the GPU has reached it.
class QueueClock::TimedEvent {
 public:
  TimedEvent(cudaStream_t queue, std::shared_ptr<const TimedEvent> origin)
      : origin_(std::move(origin)) {
    event_.record(queue);
  }

  bool known() const { return event_.reached(); }
  /// In seconds of the steady clock. Call it only once the time is known.
  double seconds() const {
    std::call_once(computed_, [this] {
      if (!origin_) return;
      float elapsed_ms = 0;
      check(cudaEventElapsedTime(&elapsed_ms, origin_->event_.get(), event_.get()),
            "cudaEventElapsedTime");
      seconds_ = origin_->seconds() + double{elapsed_ms} * 1e-3;
      origin_ = nullptr;
    });
    return seconds_;
  }
  /// Sets the time of an event that has no origin.
  void set_seconds(double seconds) { seconds_ = seconds; }

 private:
  Event event_{cudaEventDefault};
  mutable std::once_flag computed_;
  mutable std::shared_ptr<const TimedEvent> origin_;
  mutable double seconds_ = 0;
};

class QueueClock::CudaEventTime final : public EventTime {
 public:
  explicit CudaEventTime(std::shared_ptr<const TimedEvent> event) : event_(std::move(event)) {}
  bool known() const override { return event_->known(); }
  double seconds() const override { return event_->seconds(); }

 private:
  const std::shared_ptr<const TimedEvent> event_;
};

QueueClock::QueueClock(cudaStream_t queue) : queue_(queue) {
  auto first = std::make_shared<TimedEvent>(queue, nullptr);
  check(cudaStreamSynchronize(queue), "cudaStreamSynchronize");
  origin_marked_s_ = host_s();
  first->set_seconds(origin_marked_s_);
  origin_ = std::move(first);
}

std::unique_ptr<EventTime> QueueClock::mark() {
  auto event = std::make_shared<const TimedEvent>(queue_, origin_);
  if (host_s() - origin_marked_s_ > kMaxOriginAge_s && origin_->known()) {
    origin_->seconds();  // makes it release its own origin
    origin_ = event;
    origin_marked_s_ = host_s();
  }
  return std::make_unique<CudaEventTime>(std::move(event));
}

namespace {

class CudaAcceleratorEvent final : public AcceleratorEvent {
 public:
  explicit CudaAcceleratorEvent(cudaStream_t queue) { event_.record(queue); }
  bool reached() const override { return event_.reached(); }
  const Event& event() const { return event_; }

 private:
  Event event_;
};

}  // namespace

CudaStream::Queue::Queue() {
  check(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}

CudaStream::Queue::~Queue() { cudaStreamDestroy(handle); }

CudaStream::CudaStream(const World& world, const std::string& name, const ncclUniqueId& id,
                       std::shared_ptr<NcclHandle> handle, Control& control, Waiter& waiter)
    : ordinal_(world.device),
      clock_(queue_.handle),
      device_(queue_.handle, world.arena, waiter),
      communicator_(
          world.options,
          {name, world.rank, world.size, queue_.handle, *this, control, waiter, world.issuer}, id,
          std::move(handle)) {}

void CudaStream::enter() { check(cudaSetDevice(ordinal_), "cudaSetDevice"); }

Device& CudaStream::device() { return device_; }

std::shared_ptr<AcceleratorEvent> CudaStream::record() {
  return std::make_shared<CudaAcceleratorEvent>(queue_.handle);
}

void CudaStream::wait(const AcceleratorEvent& event) {
  const auto* const cuda_event = dynamic_cast<const CudaAcceleratorEvent*>(&event);
  TRIGRAM_CHECK(cuda_event != nullptr, "waited for an event of another accelerator");
  check(cudaStreamWaitEvent(queue_.handle, cuda_event->event().get()), "cudaStreamWaitEvent");
}

}  // namespace trigram::cuda

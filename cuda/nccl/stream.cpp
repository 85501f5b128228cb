#include "cuda/nccl/stream.h"

#include "core/check.h"
#include "cuda/support/error.h"

namespace trigram::cuda {
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
          world.plan,
          {name, world.rank, world.size, queue_.handle, *this, control, waiter, world.issuer}, id,
          std::move(handle)) {}

void CudaStream::enter() { check(cudaSetDevice(ordinal_), "cudaSetDevice"); }

Device& CudaStream::device() { return device_; }

std::shared_ptr<AcceleratorEvent> CudaStream::record() {
  return std::make_shared<CudaAcceleratorEvent>(queue_.handle);
}

void CudaStream::wait(const AcceleratorEvent& event) {
  const auto* const here = dynamic_cast<const CudaAcceleratorEvent*>(&event);
  TRIGRAM_CHECK(here != nullptr, "waited for an event of another accelerator");
  check(cudaStreamWaitEvent(queue_.handle, here->event().get()), "cudaStreamWaitEvent");
}

}  // namespace trigram::cuda

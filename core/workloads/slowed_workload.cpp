#include "core/workloads/slowed_workload.h"

#include <ctime>

#include "core/workloads/wrapped_workload.h"

namespace trigram {
namespace {

/// Processor time of the calling thread, in seconds.
double processor_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class SlowedWorkload final : public WrappedWorkload {
 public:
  SlowedWorkload(std::unique_ptr<Workload> workload, Stream& stream, const MachineModel& machine,
                 const Steps& steps)
      : WrappedWorkload(std::move(workload)), stream_(stream), machine_(machine), steps_(steps) {}

  void forward(Context ctx) override {
    ComputeInterval interval(*this, ctx);
    inner().forward(ctx);
    interval.end();
  }
  void forward_by_bucket(Context ctx, const std::function<void(Bucket&)>& before) override {
    ComputeInterval interval(*this, ctx);
    inner().forward_by_bucket(ctx, interval.around(before));
    interval.end();
  }
  void backward(Context ctx, const std::function<void(Bucket&)>& on_ready) override {
    ComputeInterval interval(*this, ctx);
    inner().backward(ctx, interval.around(on_ready));
    interval.end();
  }

 private:
  /// A stretch of computation that ends where the workload reports a bucket, or with the pass.
  class ComputeInterval {
   public:
    ComputeInterval(SlowedWorkload& slowed, const Context& ctx)
        : stream_(slowed.stream_),
          extra_(slowed.machine_.compute_factor(ctx.world_rank, slowed.steps_.current()) - 1),
          begin_s_(processor_s()) {}
    void end() {
      if (extra_ > 0) stream_.sleep_for(extra_ * (processor_s() - begin_s_));
      begin_s_ = processor_s();
    }
    /// A callback that ends the interval, calls `then`, and begins the next interval. `then` must
    /// outlive it.
    std::function<void(Bucket&)> around(const std::function<void(Bucket&)>& then) {
      return [this, &then](Bucket& bucket) {
        end();
        then(bucket);
        begin_s_ = processor_s();
      };
    }

   private:
    Stream& stream_;
    double extra_, begin_s_;
  };

  Stream& stream_;
  const MachineModel& machine_;
  const Steps& steps_;
};

}  // namespace

std::unique_ptr<Workload> slowed(std::unique_ptr<Workload> workload, Stream& stream,
                                 const MachineModel& machine, const Steps& steps) {
  if (stream.mark()) return workload;  // computes on an accelerator
  return std::make_unique<SlowedWorkload>(std::move(workload), stream, machine, steps);
}

}  // namespace trigram

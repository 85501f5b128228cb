#include "experiments/calibrate/workload_probe.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "core/device/timed_device.h"
#include "core/optimizers/registry.h"
#include "experiments/bench/measure.h"

namespace trigram {
namespace {

/// A stream that records charged costs instead of spending their time, and forwards other calls.
/// mark() is not forwarded: it keeps Stream's default, null, because this stream records no
/// accelerator events.
class CostRecorder final : public Stream {
 public:
  explicit CostRecorder(Stream& inner) : inner_(inner) {}
  std::vector<Cost> costs;

  void charge(const Cost& cost) override { costs.push_back(cost); }
  std::string_view name() const override { return inner_.name(); }
  double now() const override { return inner_.now(); }
  void sleep_for(double seconds) override { inner_.sleep_for(seconds); }
  void compute(double seconds) override { inner_.compute(seconds); }
  std::unique_ptr<Stream> fork(const std::string& n) override { return inner_.fork(n); }
  OneWay fork_one_way(const std::string& n) override { return inner_.fork_one_way(n); }
  std::shared_ptr<Work> submit(const Context& after, Task task) override {
    return inner_.submit(after, std::move(task));
  }
  void wait(Work& work) override { inner_.wait(work); }
  void synchronize() override { inner_.synchronize(); }
  std::unique_ptr<Mutex> make_mutex() override { return inner_.make_mutex(); }

 private:
  Stream& inner_;
};

double modelled_s(const std::vector<Cost>& costs, const Accelerator& accelerator) {
  double seconds = 0;
  for (const Cost& cost : costs) seconds += accelerator.seconds(cost);
  return seconds;
}

}  // namespace

StepProbe probe_step(const Context& raw, const WorkloadFactory& factory, int steps,
                     double quantile_level) {
  CostRecorder recorder(*raw.stream);
  TimedDevice device(*raw.device, recorder);
  Context ctx = raw;
  ctx.stream = &recorder;
  ctx.device = &device;
  const auto workload = factory.make(ctx, 1);
  workload->bucketize(0);
  const Json sgd = resolve_component(optimizers(), "optimizer", "sgd", "");
  const auto optimizer =
      find_component(optimizers(), "optimizer", sgd, "").make(sgd, ctx, *workload, steps + 1);
  StepProbe probe;
  std::vector<double> seconds;
  for (int step = 0; step <= steps; ++step) {
    recorder.costs.clear();
    const double begin_s = ctx.stream->now();
    workload->forward(ctx);
    workload->backward(ctx, [](Bucket&) {});
    for (Bucket& bucket : workload->buckets()) optimizer->step(ctx, bucket);
    ctx.stream->synchronize();
    if (step > 0) seconds.push_back(ctx.stream->now() - begin_s);  // the first step is a warm-up
  }
  probe.seconds = quantile(std::move(seconds), quantile_level);
  probe.costs = recorder.costs;
  return probe;
}

double flop_rate(const StepProbe& step, Accelerator accelerator) {
  double low = 1e3, high = 1e18;
  accelerator.flops_per_s = high;
  if (const double least_s = modelled_s(step.costs, accelerator); least_s >= step.seconds)
    throw std::runtime_error(
        fmt::format("a step took {:.3g} s, but its memory traffic and overheads alone would take "
                    "{:.3g} s at the measured memory bandwidth; repeat the calibration while the "
                    "machine is idle",
                    step.seconds, least_s));
  while (high / low > 1 + 1e-9) {
    accelerator.flops_per_s = std::sqrt(low * high);
    const bool too_slow = modelled_s(step.costs, accelerator) > step.seconds;
    (too_slow ? low : high) = accelerator.flops_per_s;
  }
  return high;
}

}  // namespace trigram

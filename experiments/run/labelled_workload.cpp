#include "experiments/run/labelled_workload.h"

#include <string>
#include <utility>

#include "core/workloads/wrapped_workload.h"

namespace trigram {
namespace {

class LabelledWorkload final : public WrappedWorkload {
 public:
  LabelledWorkload(std::unique_ptr<Workload> workload, Meter& meter)
      : WrappedWorkload(std::move(workload)), meter_(meter) {}

  void forward(Context ctx) override {
    const Labelled phase(meter_, StepLabel::forward);
    inner().forward(ctx);
  }
  void forward_by_bucket(Context ctx, const std::function<void(Bucket&)>& before) override {
    const Labelled phase(meter_, StepLabel::forward);
    inner().forward_by_bucket(ctx, [&](Bucket& bucket) {
      meter_.set_label({StepLabel::forward, bucket.index});
      before(bucket);
    });
  }
  /// Gradients become ready bucket by bucket, so that what is computed before one is ready belongs
  /// to that bucket.
  void backward(Context ctx, const std::function<void(Bucket&)>& on_ready) override {
    const Labelled phase(meter_, StepLabel::backward);
    meter_.set_label({StepLabel::backward, 0});
    const auto last = static_cast<int>(inner().buckets().size()) - 1;
    inner().backward(ctx, [&](Bucket& bucket) {
      meter_.set_label({StepLabel::backward, bucket.index});
      on_ready(bucket);
      if (bucket.index < last) meter_.set_label({StepLabel::backward, bucket.index + 1});
    });
  }

 private:
  /// Ends the phase at the end of its scope.
  class Labelled {
   public:
    Labelled(Meter& meter, StepLabel::Phase phase) : meter_(meter) { meter_.set_label({phase}); }
    ~Labelled() { meter_.set_label({}); }
    Labelled(const Labelled&) = delete;
    Labelled& operator=(const Labelled&) = delete;

   private:
    Meter& meter_;
  };

  Meter& meter_;
};

}  // namespace

std::unique_ptr<Workload> labelled(std::unique_ptr<Workload> workload, Meter& meter) {
  return std::make_unique<LabelledWorkload>(std::move(workload), meter);
}

Json buckets_json(std::span<Bucket> buckets) {
  Json all = Json::array();
  for (const Bucket& bucket : buckets)
    all.push_back({{"name", std::string(bucket.name)}, {"bytes", bucket.grad.priced_nbytes()}});
  return all;
}

}  // namespace trigram

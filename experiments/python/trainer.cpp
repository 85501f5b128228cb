#include "experiments/python/trainer.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "algorithms/collectives/collectives.h"
#include "core/optimizers/clipped.h"
#include "core/optimizers/registry.h"
#include "core/workloads/bucketing.h"
#include "experiments/checkpoint/saved_state.h"
#include "experiments/config/feasibility.h"
#include "runtime/mpi/mpi_runtime.h"

namespace trigram {
namespace {

std::vector<std::string_view> views_of(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

/// A workload whose passes are made by the user's loop.
class UserWorkload final : public FlatWorkload {
 public:
  UserWorkload(const Context& ctx, const UserModel& model, UserLoop& loop)
      : FlatWorkload(*ctx.device, model.lengths, model.weights.size(), views_of(model.names),
                     model.rows),
        loop_(loop),
        buffers_(ctx.device->empty(model.buffers.size())) {
    ctx.device->upload(weights(), model.weights);
    ctx.device->upload(buffers_, model.buffers);
  }
  Tensor buffers() override { return buffers_; }
  void forward(Context) override { loop_.forward(); }
  void backward(Context, const std::function<void(Bucket&)>& on_ready) override {
    std::size_t complete = 0, ready = 0;
    loop_.backward([&] {
      if (++complete == range(ready).last) on_ready(buckets()[ready++]);
    });
  }
  double loss() override { return loop_.loss(); }
  bool has_values() const override { return true; }
  std::size_t batch() const override { return 1; }

 private:
  UserLoop& loop_;
  Tensor buffers_;
};

/// The properties of a user's model that the checks of an experiment ask for.
class UserFactory final : public WorkloadFactory {
 public:
  void check_ranks(int) const override {}
  std::unique_ptr<Workload> make(const Context&, std::uint64_t) const override { return nullptr; }
  bool has_values() const override { return true; }
  TensorDetail tensor_detail() const override { return TensorDetail::shapes; }
  std::vector<std::filesystem::path> input_files() const override { return {}; }
};

int ranks_on_this_node(int ranks) {
  const char* text = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  const int local = text ? std::atoi(text) : 1;
  return local > 0 && ranks % local == 0 ? local : 1;
}

Experiment make_experiment(Json options, int ranks) {
  constexpr long kEndless = 100'000'000;
  const int local = ranks_on_this_node(ranks);
  const bool in_job = mpi_unavailable_reason().empty();
  options["runtime"] = in_job ? "mpi" : "threads";
  options["cluster"] = {{"nodes", ranks / local}, {"workers_per_node", local}};
  options["workload"] = "quadratic";  // not used: the user's loop is the workload
  if (options.value("steps", Json()).is_null()) options["steps"] = kEndless;
  return experiment_fields("").parse(options, "");
}

}  // namespace

bool algorithm_has_option(const Json& algorithm, const std::string& option) {
  return find_component(algorithms(), "algorithm", algorithm, "/algorithm")
      .schema()
      .at("properties")
      .contains(option);
}

Trainer::Trainer(const Json& options, UserModel model)
    : factory_(std::make_unique<UserFactory>()),
      model_(std::move(model)),
      loop_(model_.lengths.size()) {
  if (mpi_unavailable_reason().empty())
    std::tie(rank_, size_) = std::pair(mpi_process().rank, mpi_process().size);
  experiment_ = std::make_unique<Experiment>(make_experiment(options, size_));
  check_feasible(*experiment_, *factory_, /*in_this_process=*/true, /*supervised=*/false);
  if (experiment_->algorithm_entry()
          .workers(experiment_->algorithm, experiment_->cluster.layout())
          .count() < size_)
    throw ConfigError("/algorithm",
                      "has ranks that only serve; expected an algorithm all of whose ranks train");
  thread_ = std::thread([this] { run(); });
  loop_.between_steps([] {});  // until the loop has started
}

Trainer::~Trainer() { close(); }

void Trainer::run() noexcept {
  try {
    const auto runtime =
        experiment_->world().make(experiment_->runtime, experiment_->cluster, *factory_);
    runtime->launch(experiment_->cluster.layout(), [this](const Context& raw) { rank_main(raw); });
    loop_.ended(nullptr);
  } catch (...) {
    loop_.ended(std::current_exception());
  }
}

void Trainer::rank_main(const Context& raw) {
  const Experiment& e = *experiment_;
  Steps steps(e.steps, {.begin = {}, .end = [&](long t) {
                          counters_ = meter_->counters();
                          steps_made_ = t + 1;
                          loop_.end_iteration();
                          if (t + 1 < e.steps && !loop_.await_step()) steps.end_after(t + 1);
                        }});
  const auto meter = instrument(
      raw, {.phantom = false, .machine = nullptr, .steps = &steps, .sink = {}, .arrived = nullptr});
  const Context ctx = meter->context();
  UserWorkload workload(ctx, model_, loop_);
  constants_ = ctx.device->empty(model_.constants.size());
  ctx.device->upload(constants_, model_.constants);
  for (const Tensor& x : {workload.weights(), workload.buffers(), constants_})
    if (x.numel() > 0) binomial_broadcast(ctx, x, 0);
  const Execution execution = e.algorithm_entry().traits(e.algorithm).execution;
  workload.bucketize(execution.buckets());
  auto optimizer = find_component(optimizers(), "optimizer", e.optimizer, "/optimizer")
                       .make(e.optimizer, ctx, workload, e.steps);
  if (e.clip_norm) optimizer = clipped(std::move(optimizer), workload, *e.clip_norm);
  Run run{workload, *optimizer, steps, execution, static_cast<std::uint64_t>(e.seed)};
  std::tie(weights_, gradients_, buffers_) =
      std::tuple(workload.weights(), workload.gradients(), workload.buffers());
  std::tie(context_, optimizer_, run_, meter_) =
      std::tuple(ctx, optimizer.get(), &run, meter.get());
  loop_.started();
  if (!loop_.await_step()) return;
  steps.begin_at(steps_made_);
  e.algorithm_entry().make(e.algorithm)->train(ctx, run);
  ctx.stream->synchronize();
}

void Trainer::collective(const std::function<void(Context)>& operation) {
  loop_.between_steps([&] { operation(context_); });
}

void Trainer::average_buffers() {
  if (buffers_.numel() > 0)
    collective([this](Context ctx) { ring_allreduce(ctx, buffers_, Reduce::avg); });
}

void Trainer::broadcast_buffers() {
  if (buffers_.numel() > 0)
    collective([this](Context ctx) { binomial_broadcast(ctx, buffers_, 0); });
}

double Trainer::mean(double value) {
  double result = 0;
  collective([&](Context ctx) {
    const Tensor x = ctx.device->empty(1);
    ctx.device->upload(x, std::vector{static_cast<float>(value)});
    ring_allreduce(ctx, x, Reduce::avg);
    result = static_cast<double>(ctx.device->download(x)[0]);
  });
  return result;
}

std::string Trainer::state() {
  SavedState saved;
  loop_.between_steps([&] {
    StateSaver optimizer(saved, *context_.device, "optimizer/"),
        algorithm(saved, *context_.device, "algorithm/");
    optimizer_->visit_state(optimizer);
    run_->state.visit(algorithm);
    optimizer.value("steps made", steps_made_);
  });
  return saved.to_file();
}

void Trainer::set_state(const std::string& text) {
  const SavedState saved = SavedState::from_file(text);
  loop_.between_steps([&] {
    StateRestorer optimizer(saved, *context_.device, "optimizer/"),
        algorithm(saved, *context_.device, "algorithm/");
    optimizer_->visit_state(optimizer);
    algorithm.put_all(run_->state);
    optimizer.value("steps made", steps_made_);
  });
}

void Trainer::close() {
  if (!thread_.joinable()) return;
  loop_.close();
  thread_.join();
}

}  // namespace trigram

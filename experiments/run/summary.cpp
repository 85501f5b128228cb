#include "experiments/run/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "experiments/sha256.h"

namespace trigram {
namespace {

/// One hash over the weights of all ranks that train, so that runs in different worlds can be
/// compared bit for bit.
Json common_hash(std::span<const RankResult> ranks) {
  Sha256 hash;
  for (const RankResult& rank : ranks) {
    if (!rank.trains) continue;
    if (rank.weights_hash.empty()) return nullptr;
    hash.update(rank.weights_hash);
  }
  return hash.hex();
}

/// The pace of one rank that trains.
struct WorkerPace {
  double step_s, samples_per_s;
};

/// The paces of the ranks that train. If ranks wait for each other, even if only for their
/// neighbours, all have the pace of the slowest rank in the long run, whatever lead some have at
/// the end. If ranks do not wait, each has its own pace, which excludes the time after its last
/// step.
std::vector<WorkerPace> paces_of(std::span<const RankResult> ranks, StepSums sums, bool waits,
                                 std::optional<std::size_t> priced_batch) {
  if (waits) sums.taken_s.assign(ranks.size(), sums.time_s);
  std::vector<WorkerPace> all;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i].trains)
      all.push_back({sums.taken_s[i] / static_cast<double>(sums.steps),
                     static_cast<double>(priced_batch.value_or(ranks[i].batch)) * sums.batches[i] /
                         sums.taken_s[i]});
  return all;
}

double samples_per_s(std::span<const WorkerPace> paces) {
  double sum = 0;
  for (const WorkerPace& pace : paces) sum += pace.samples_per_s;
  return sum;
}

/// The share of the workers' time in which they compute. A worker that leaves out steps, because it
/// is late or absent, has that time, too.
double utilisation(std::span<const WorkerPace> paces, const StepSums& sums) {
  double step_s = 0;
  for (const WorkerPace& pace : paces) step_s += pace.step_s;
  return sums.computing_s / (step_s * static_cast<double>(sums.steps));
}

/// The sum if all ranks that train had the step time of the slowest of them.
double samples_per_s_at_slowest(std::span<const WorkerPace> paces) {
  double sum = 0, slowest_s = 0;
  for (const WorkerPace& pace : paces) {
    sum += pace.samples_per_s * pace.step_s;
    slowest_s = std::max(slowest_s, pace.step_s);
  }
  return sum / slowest_s;
}

/// The summary has paces if the slowest worker's step time exceeds the fastest worker's step time
/// by more than this factor.
constexpr double kUneven = 1.5;

/// The slowest and the fastest pace if they differ by more than kUneven; otherwise null.
Json paces_json(std::span<const WorkerPace> paces) {
  const auto [fastest, slowest] = std::ranges::minmax_element(paces, {}, &WorkerPace::step_s);
  if (!(slowest->step_s > kUneven * fastest->step_s)) return nullptr;
  const auto json = [](const WorkerPace& pace) {
    return Json{{"step_s", pace.step_s}, {"samples_per_s", finite(pace.samples_per_s)}};
  };
  return {{"slowest", json(*slowest)}, {"fastest", json(*fastest)}};
}

void add_record(StepSums& sums, const StepRecord& record, long times) {
  sums.steps += times;
  sums.mean = sums.mean + times * record.mean;
  sums.computing_s += static_cast<double>(times) * record.computing_s;
  sums.sent = sums.sent + times * record.sum;
  sums.updates += times * record.staleness.updates;
  sums.batches.resize(record.batches.size());
  for (std::size_t rank = 0; rank < sums.batches.size(); ++rank)
    sums.batches[rank] += static_cast<double>(times * record.batches[rank]);
}

/// The sums over the steps of `all` after the steps of `first`, with which `all` begins.
StepSums without(const StepSums& all, const StepSums& first) {
  if (first.steps == 0) return all;
  StepSums rest = all;
  rest.steps -= first.steps;
  rest.time_s -= first.time_s;
  rest.mean = all.mean - first.mean;
  rest.computing_s -= first.computing_s;
  rest.sent = all.sent - first.sent;
  rest.updates -= first.updates;
  for (std::size_t rank = 0; rank < rest.taken_s.size(); ++rank) {
    rest.taken_s[rank] -= first.taken_s[rank];
    rest.batches[rank] -= first.batches[rank];
  }
  for (std::size_t rank = 0; rank < rest.completed.size(); ++rank) {
    rest.completed[rank].steps -= first.completed[rank].steps;
    rest.completed[rank].batches -= first.completed[rank].batches;
  }
  return rest;
}

/// The mean, over the ranks that train, of the number of steps that a rank completed while the
/// slowest of them completed the steps of `sums`.
double steps_made(const StepSums& sums, std::span<const RankResult> ranks) {
  if (sums.completed.empty()) return static_cast<double>(sums.steps);
  double steps = 0, count = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i].trains) {
      steps += sums.completed[i].steps;
      ++count;
    }
  return steps / count;
}

}  // namespace

void Summary::add(const StepRecord& record) {
  last_ = record;
  if (drops_last_) before_last_ = all_;
  add_record(all_, record, 1);
  all_.completed = record.completed;
  all_.time_s = record.time_s;
  all_.taken_s = record.end_s;
  const long cycled = all_.steps - cycle_.first_step;
  if (cycled == 0) warm_up_ = all_;
  if (cycled > 0 && cycled % cycle_.steps == 0) whole_ = all_;
  if (cycled >= 0 && cycled % cycle_.steps == 0) note_trend(record);
  add_staleness(record, 1);
  tails_.add(record);
  squares_.own += record.squares.own;
  squares_.mean += record.squares.mean;
}

void Summary::note_trend(const StepRecord& record) {
  // Faster ranks that need not wait yet run ahead in a run's first cycles, which makes no step
  // shorter.
  const double end_s = waits_ ? record.time_s
                              : std::reduce(record.end_s.begin(), record.end_s.end()) /
                                    static_cast<double>(record.end_s.size());
  if (drops_last_) trend_before_last_ = trend_;
  if (all_.steps > cycle_.first_step)
    trend_.add((end_s - cycle_end_s_) / static_cast<double>(cycle_.steps));
  cycle_end_s_ = end_s;
}

void Summary::repeat(std::span<const StepRecord> cycle, long times) {
  tails_.repeat(cycle, times);
  for (const StepRecord& record : cycle) {
    for (StepSums* sums : {&all_, &whole_}) {
      const double taken_s = static_cast<double>(times) * record.step_s;
      sums->time_s += taken_s;
      for (double& own_s : sums->taken_s) own_s += taken_s;  // a steady cycle: the same for all
      add_record(*sums, record, times);
    }
    add_staleness(record, times);
  }
}

void Summary::add_staleness(const StepRecord& record, long times) {
  staleness_.updates += times * record.staleness.updates;
  staleness_.sum += times * record.staleness.sum;
  staleness_.max = std::max(staleness_.max, record.staleness.max);
}

/// Null if gradients were not measured. The scale is also null if |G|^2 is too small to be told
/// from its error.
void Summary::add_noise(Json& j, std::span<const RankResult> ranks) const {
  for (const char* key : {"gradient_noise_scale", "gradient_noise", "gradient_square"})
    j[key] = nullptr;
  const auto trains = std::ranges::find_if(ranks, &RankResult::trains);
  if (squares_.own == 0 || trains == ranks.end()) return;
  const auto steps = static_cast<double>(all_.steps);
  const double batches = all_.batches[static_cast<std::size_t>(trains - ranks.begin())] / steps,
               workers = static_cast<double>(std::ranges::count_if(ranks, &RankResult::trains));
  const GradientNoise noise = estimate_noise({squares_.own / steps, squares_.mean / steps},
                                             batches * static_cast<double>(trains->batch), workers);
  j["gradient_noise"] = finite(noise.noise);
  j["gradient_square"] = finite(noise.gradient_square);
  if (noise.gradient_square > 0)
    j["gradient_noise_scale"] = finite(noise.noise / noise.gradient_square);
}

StepSums Summary::rated() const { return whole_.steps > 0 ? without(whole_, warm_up_) : all_; }

/// The steps over which the ranks' own times are averaged. If ranks do not wait for each other, and
/// time or chance decides their exchanges, the last step is left out, because ranks often wait for
/// all other ranks in it.
StepSums Summary::paced() const {
  const StepSums from = whole_.steps > 0 ? warm_up_ : StepSums{};
  return before_last_.steps > from.steps ? without(before_last_, from) : rated();
}

std::vector<double> Summary::batches() const {
  if (all_.completed.empty()) return all_.batches;
  std::vector<double> taken;
  for (const StepCounts& rank : all_.completed) taken.push_back(rank.batches);
  return taken;
}

/// The steps that the means cover, and the traffic in them.
Json Summary::rates_json(const StepSums& rated, std::span<const RankResult> ranks) const {
  const long from = whole_.steps > 0 ? cycle_.first_step : 0;
  Json j = {{"from_step", from},
            {"steps", rated.steps},
            {"steps_made", steps_made(rated, ranks)},
            {"own_steps", paced().steps},
            {"over", nullptr},
            {"bytes_intra", rated.sent.bytes_intra},
            {"bytes_inter", rated.sent.bytes_inter},
            {"messages_intra", rated.sent.messages_intra},
            {"messages_inter", rated.sent.messages_inter},
            {"bytes_egress", rated.sent.bytes_egress},
            {"egress_usd", finite(rated.sent.egress_usd)},
            {"updates", rated.updates}};
  if (rated.steps == all_.steps) return j;
  std::string covered =
      cycle_.steps > 1 ? fmt::format("whole cycles of {}", cycle_.steps) : "those";
  if (from > 0) covered += fmt::format(" after a warm-up of {}", from);
  j["over"] = fmt::format("{} of {} steps: {}", rated.steps, all_.steps, covered);
  return j;
}

double messages_of(std::span<const RankResult> ranks) {
  double all = 0;
  for (const RankResult& rank : ranks)
    all += static_cast<double>(rank.total.messages_intra + rank.total.messages_inter);
  return all;
}

Json Summary::to_json(std::span<const RankResult> ranks, std::optional<double> messages_per_s,
                      std::optional<std::size_t> priced_batch) const {
  const bool updated = staleness_.updates > 0;
  const StepSums rated = this->rated(), paced = this->paced();
  const auto own_steps = static_cast<double>(paced.steps);
  const std::vector<WorkerPace> paces = paces_of(ranks, paced, waits_, priced_batch);
  Json j = {{"steps", all_.steps},
            {"time_s", all_.time_s},
            {"step_s", rated.time_s / static_cast<double>(rated.steps)},
            {"samples_per_s", finite(samples_per_s(paces))},
            {"paces", paces_json(paces)},
            {"samples_per_s_at_slowest", finite(samples_per_s_at_slowest(paces))},
            {"trend", (drops_last_ ? trend_before_last_ : trend_).to_json()},
            {"compute_s", paced.mean.compute_s / own_steps},
            {"compute_utilisation", finite(utilisation(paces, paced))},
            {"communication_s", paced.mean.communication_s / own_steps},
            {"exposed_s", paced.mean.exposed_s / own_steps},
            {"rates", rates_json(rated, ranks)},
            {"bytes_intra", all_.sent.bytes_intra},
            {"bytes_inter", all_.sent.bytes_inter},
            {"messages_intra", all_.sent.messages_intra},
            {"messages_inter", all_.sent.messages_inter},
            {"bytes_egress", all_.sent.bytes_egress},
            {"egress_usd", finite(all_.sent.egress_usd)},
            {"loss", finite(last_.loss)},
            {"staleness_mean", updated ? Json(static_cast<double>(staleness_.sum) /
                                              static_cast<double>(staleness_.updates))
                                       : Json()},
            {"staleness_max", updated ? Json(staleness_.max) : Json()},
            {"weights_hash", common_hash(ranks)},
            {"lower_bound_s", nullptr},
            {"messages_simulated_per_wall_s", messages_per_s ? finite(*messages_per_s) : Json()}};
  for (const char* key : {"accuracy", "eval_loss", "worker_loss_mean", "worker_accuracy_mean",
                          "worker_accuracy_min", "consensus_distance"})
    j[key] = nullptr;
  if (last_.evaluation) add_evaluation(j, *last_.evaluation);
  add_noise(j, ranks);
  tails_.add_to(j);
  return j;
}

}  // namespace trigram

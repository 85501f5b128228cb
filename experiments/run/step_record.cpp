#include "experiments/run/step_record.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/run/byte_text.h"

namespace trigram {
namespace {

template <class Op>
Counters combine(const Counters& a, const Counters& b, Op op) {
  return {op(a.compute_s, b.compute_s),           op(a.communication_s, b.communication_s),
          op(a.exposed_s, b.exposed_s),           op(a.bytes_intra, b.bytes_intra),
          op(a.bytes_inter, b.bytes_inter),       op(a.messages_intra, b.messages_intra),
          op(a.messages_inter, b.messages_inter), op(a.bytes_egress, b.bytes_egress),
          op(a.egress_usd, b.egress_usd)};
}

Json optional_number(const std::optional<double>& value) { return value ? finite(*value) : Json(); }

}  // namespace

Counters operator-(const Counters& a, const Counters& b) {
  return combine(a, b, [](auto x, auto y) { return x - y; });
}

Counters operator+(const Counters& a, const Counters& b) {
  return combine(a, b, [](auto x, auto y) { return x + y; });
}

Counters operator*(long times, const Counters& counters) {
  return combine(counters, counters,
                 [times](auto x, auto) { return static_cast<decltype(x)>(times) * x; });
}

StepRecord reduce(long step, std::span<const RankStep> ranks, double previous_time_s) {
  StepRecord record;
  record.step = step;
  double count = 0, losses = 0;
  Counters trained;
  for (const RankStep& r : ranks) {
    record.end_s.push_back(r.end_s);
    record.batches.push_back(r.batches);
    record.sum = record.sum + r.spent;
    record.staleness.updates += r.staleness.updates;
    record.staleness.sum += r.staleness.sum;
    record.staleness.max = std::max(record.staleness.max, r.staleness.max);
    const bool counts = r.trains && !r.absent;
    record.work_s.push_back(counts ? r.spent.compute_s : std::numeric_limits<double>::quiet_NaN());
    if (!counts) continue;
    ++count;
    trained = trained + r.spent;
    record.computing_s += r.spent.compute_s - r.delayed_s;
    record.time_s = std::max(record.time_s, r.end_s);
    if (r.batches == 0) continue;
    ++losses;
    record.loss += r.loss;
    record.squares.own += r.squares.own;
    record.squares.mean += r.squares.mean;
  }
  // Later steps can end earlier once a slow worker is absent.
  record.time_s = std::max(record.time_s, previous_time_s);
  record.step_s = record.time_s - previous_time_s;
  record.loss /= losses;
  record.squares.own /= count;
  record.squares.mean /= count;
  record.mean.compute_s = trained.compute_s / count;
  record.mean.communication_s = trained.communication_s / count;
  record.mean.exposed_s = trained.exposed_s / count;
  return record;
}

std::string to_bytes(const StepRecord& r) {
  ByteWriter to;
  to.put(r.step);
  to.put_list(r.end_s);
  to.put_list(r.batches);
  to.put(r.time_s);
  to.put(r.step_s);
  to.put(r.mean);
  to.put_list(r.work_s);
  to.put(r.computing_s);
  to.put(r.sum);
  to.put_list(r.arrived);
  to.put_list(r.completed);
  to.put(r.loss);
  to.put(r.staleness);
  to.put(r.squares);
  to.put(r.evaluation);
  return to.take();
}

StepRecord record_from_bytes(const std::string& bytes) {
  ByteReader from(bytes);
  StepRecord r;
  r.step = from.get<long>();
  r.end_s = from.get_list<std::vector<double>>();
  r.batches = from.get_list<std::vector<long>>();
  r.time_s = from.get<double>();
  r.step_s = from.get<double>();
  r.mean = from.get<Counters>();
  r.work_s = from.get_list<std::vector<double>>();
  r.computing_s = from.get<double>();
  r.sum = from.get<Counters>();
  r.arrived = from.get_list<std::vector<Counters>>();
  r.completed = from.get_list<std::vector<StepCounts>>();
  r.loss = from.get<double>();
  r.staleness = from.get<Steps::Staleness>();
  r.squares = from.get<GradientSquares>();
  r.evaluation = from.get<std::optional<Evaluation>>();
  return r;
}

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

void add_evaluation(Json& j, const Evaluation& e) {
  j["accuracy"] = optional_number(e.accuracy);
  j["eval_loss"] = finite(e.loss);
  j["worker_loss_mean"] = finite(e.worker_loss_mean);
  j["worker_accuracy_mean"] = optional_number(e.worker_accuracy_mean);
  j["worker_accuracy_min"] = optional_number(e.worker_accuracy_min);
  j["consensus_distance"] = finite(e.consensus_distance);
}

Json to_json(const StepRecord& r) {
  const bool updated = r.staleness.updates > 0;
  Json j = {{"step", r.step},
            {"time_s", r.time_s},
            {"step_s", r.step_s},
            {"compute_s", r.mean.compute_s},
            {"communication_s", r.mean.communication_s},
            {"exposed_s", r.mean.exposed_s},
            {"bytes_intra", r.sum.bytes_intra},
            {"bytes_inter", r.sum.bytes_inter},
            {"messages_intra", r.sum.messages_intra},
            {"messages_inter", r.sum.messages_inter},
            {"loss", finite(r.loss)},
            {"staleness_mean", updated ? Json(static_cast<double>(r.staleness.sum) /
                                              static_cast<double>(r.staleness.updates))
                                       : Json()},
            {"staleness_max", updated ? Json(r.staleness.max) : Json()}};
  if (r.evaluation) add_evaluation(j, *r.evaluation);
  return j;
}

}  // namespace trigram

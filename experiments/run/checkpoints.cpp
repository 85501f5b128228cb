#include "experiments/run/checkpoints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <utility>

#include "experiments/run/byte_text.h"
#include "experiments/run/checkpoint_match.h"
#include "experiments/run/neighbour_memory.h"
#include "experiments/run/rank_report.h"

namespace trigram {
namespace {

double system_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Waits until `end_s` of simulated time, to the last bit. A sum of two times is rounded, but the
/// difference of two numbers is exact if neither is more than twice the other.
void sleep_exactly_until(Stream& stream, double end_s) {
  if (stream.now() < end_s / 2) stream.sleep_for(0.75 * end_s - stream.now());
  if (stream.now() < end_s) stream.sleep_for(end_s - stream.now());
}

constexpr int kResumeTag = -6;  // algorithms use tags from 0

}  // namespace

Checkpoints::Checkpoints(const Experiment& e, const CheckpointPlace& place, bool decides)
    : experiment(e),
      folder(place.folder),
      memory(memory_folder(place.folder)),
      without_memory(place.without_memory),
      source_(place.from.empty() ? place.folder : place.from) {
  if (e.checkpoint->keeps_copies()) rank_bytes.resize(static_cast<std::size_t>(e.cluster.ranks()));
  if (!decides) return;
  if (!place.resume) folder.remove();
  if (!place.resume && place.from.empty()) return;
  const std::optional<long> step = source_.latest_valid(notes);
  for (const std::string& note : notes) spdlog::warn("{}", note);
  if (step) continue_from(*step);
}

void Checkpoints::continue_from(long step) {
  resumed_step = step;
  if (source_.ranks(step) != experiment.cluster.ranks()) {
    reform_from(step);
  } else {
    const SavedState state = source_.read(step, 0);
    ByteReader from(state.at("run/records").bytes);
    for (auto count = from.get<std::size_t>(); count > 0; --count)
      earlier_.push_back(record_from_bytes(from.get_list<std::string>()));
    resumed = Json::parse(state.at("run/resumed").bytes);
    last = {
        {"step", step}, {"rank_bytes", state.priced_bytes()}, {"write_s", source_.write_s(step)}};
  }
  const double stopped_s = system_s() - source_.completed_s(step);
  resumed.push_back({{"step", step}, {"stopped_s", stopped_s}});
  spdlog::info("continues after step {}, {:.0f} s after its checkpoint", step, stopped_s);
}

void Checkpoints::reform_from(long step) {
  const AlgorithmEntry& entry = experiment.algorithm_entry();
  const Layout before = parse_cluster(source_.about(step).at("cluster"), "/cluster").layout();
  const Workers old = entry.workers(experiment.algorithm, before),
                now = entry.workers(experiment.algorithm, experiment.cluster.layout());
  reformed_ = reform(source_, step, old.ranks, now.count());
  notes.push_back(fmt::format(
      "goes on with {} workers after {} steps of {}: their batches stay what they are, so that the "
      "batch of all workers is {:.3g} times as large; weights and the optimizer's state are the "
      "means of the workers{}; the summary covers the steps from here on",
      now.count(), step, old.count(), static_cast<double>(now.count()) / old.count(),
      reformed_->left_out.empty() ? ""
                                  : fmt::format(", and this state of the algorithm begins anew: {}",
                                                fmt::join(reformed_->left_out, ", "))));
}

SavedState Checkpoints::state_of(int rank) {
  const long step = *resumed_step;
  if (!reformed_ && source_.ranks(step) != experiment.cluster.ranks()) reform_from(step);
  return reformed_ ? reformed_->state : source_.read(step, rank);
}

std::vector<StepRecord> Checkpoints::take_earlier_records() { return std::exchange(earlier_, {}); }

Json Checkpoints::to_json() const {
  Json json = {{"last", last}, {"resumed", resumed}};
  if (experiment.checkpoint->keeps_copies()) json["copied"] = copied;
  if (experiment.world().simulated)
    json["writing_is_free"] = !experiment.checkpoint->write_Bps.has_value();
  return json;
}

std::unique_ptr<Workload> counted_workload(std::unique_ptr<Workload> workload,
                                           CountedWorkload*& counted) {
  auto result = std::make_unique<CountedWorkload>(std::move(workload));
  counted = result.get();
  return result;
}

long RankCheckpoints::next_after(long step) const {
  const long every = shared_.experiment.checkpoint->interval();
  return (step / every + 1) * every;
}

void RankCheckpoints::visit_weights(StateVisitor& visitor) {
  Tensor weights = rank_.workload.weights(), buffers = rank_.workload.buffers();
  visitor.tensor("weights", weights);
  visitor.tensor("buffers", buffers);
}

SavedState RankCheckpoints::saved(const Counters& counters, double now_s) {
  SavedState state;
  StateSaver rank(state, *rank_.raw.device, "rank/"),
      optimizer(state, *rank_.raw.device, "optimizer/");
  visit_weights(rank);
  records_.visit(rank);
  rank_.optimizer.visit_state(optimizer);
  StateSaver algorithm(state, *rank_.raw.device, "algorithm/");
  rank_.state.visit(algorithm);
  StateSaver rest(state, *rank_.raw.device, "");
  Counters totals = counters;
  rest.value("counters", totals);
  rest.value("now_s", now_s);
  rest.value("batches", rank_.counted.batches);
  rest.value("buckets", rank_.counted.sizes);
  state["run/timeline"].bytes = records_.timeline.rank_to_bytes(rank_.raw.world_rank);
  if (rank_.raw.world_rank > 0) return state;
  ByteWriter records;
  records.put(shared_.records.size());
  for (const StepRecord& record : shared_.records) records.put_list(to_bytes(record));
  state["run/records"].bytes = records.take();
  state["run/resumed"].bytes = shared_.resumed.dump();
  if (!records_.arrived) return state;
  const auto arrived = records_.arrived->arrived_by(rank_.raw.stream->now());
  ByteWriter traffic;
  traffic.put_list(std::vector<Counters>(arrived.begin(), arrived.end()));
  state["run/arrived"].bytes = traffic.take();
  return state;
}

double RankCheckpoints::save(long step) {
  const Experiment& e = shared_.experiment;
  const bool first = rank_.raw.world_rank == 0, simulated = e.world().simulated;
  const bool stored = step % e.checkpoint->every == 0;
  const CheckpointFolder& folder = stored ? shared_.folder : shared_.memory;
  const Counters counters = rank_.meter.counters();
  Stream& stream = *rank_.raw.stream;
  records_.report();
  if (first) folder.begin(step);
  barrier(rank_.raw);
  const double began_s = stream.now();
  SavedState state = saved(counters, 0);
  if (e.checkpoint->keeps_copies()) copy(state.priced_bytes());
  const double copied_s = stream.now();
  if (simulated && stored && e.checkpoint->write_Bps)
    stream.sleep_for(state.priced_bytes() / *e.checkpoint->write_Bps);
  double now_s = stream.now();
  StateSaver(state, *rank_.raw.device, "").value("now_s", now_s);
  folder.write(step, rank_.raw.world_rank, state);
  barrier(rank_.raw);
  if (first) {
    const double write_s = (simulated ? now_s : stream.now()) - copied_s;
    folder.complete(step, rank_.raw.world_size, description_of(e), stored ? e.checkpoint->keep : 1,
                    write_s);
    if (stored)
      shared_.last = {{"step", step}, {"rank_bytes", state.priced_bytes()}, {"write_s", write_s}};
    if (e.checkpoint->keeps_copies())
      shared_.copied = {
          {"step", step}, {"rank_bytes", state.priced_bytes()}, {"copy_s", copied_s - began_s}};
  }
  rank_.meter.count_on_from(counters);
  return now_s;
}

/// Copies the state of this rank, of `bytes` bytes, to the memory of another node.
void RankCheckpoints::copy(double bytes) {
  shared_.rank_bytes[static_cast<std::size_t>(rank_.raw.world_rank)] = bytes;
  barrier(rank_.raw);
  copy_to_neighbours(rank_.raw, shared_.rank_bytes);
  barrier(rank_.raw);
}

double RankCheckpoints::bring_back_copies() {
  if (shared_.without_memory.empty()) return 0;
  const Context& raw = rank_.raw;
  const double began_s = raw.stream->now();
  shared_.rank_bytes[static_cast<std::size_t>(raw.world_rank)] =
      shared_.state_of(raw.world_rank).priced_bytes();
  barrier(raw);
  restore_from_neighbours(raw, shared_.rank_bytes, shared_.without_memory);
  barrier(raw);
  return raw.stream->now() - began_s;
}

/// Tells all ranks where rank 0 continues, if ranks are processes.
void RankCheckpoints::agree_on_step() {
  const Context& raw = rank_.raw;
  if (!shared_.experiment.world().processes) return;
  if (raw.world_rank > 0) {
    const std::int64_t step = raw.control->receive(kResumeTag)->a;
    shared_.resumed_step = step < 0 ? std::nullopt : std::optional<long>(step);
    return;
  }
  for (int rank = 1; rank < raw.world_size; ++rank)
    raw.control->post(rank, kResumeTag, shared_.resumed_step.value_or(-1));
}

/// Restores what the next steps of training depend on.
void RankCheckpoints::restore_training(const SavedState& state) {
  Device& device = *rank_.raw.device;
  StateRestorer rest(state, device, ""), rank(state, device, "rank/"),
      optimizer(state, device, "optimizer/");
  BucketSizes sizes = rank_.counted.sizes;
  long batches = 0;
  rest.value("buckets", sizes);
  rest.value("batches", batches);
  if (sizes != rank_.counted.sizes) {
    rank_.workload.bucketize(sizes);
    rank_.optimizer.rebucket(rank_.meter.context(), rank_.workload);
  }
  rank_.counted.skip(batches);
  visit_weights(rank);
  rank_.optimizer.visit_state(optimizer);
  StateRestorer(state, device, "algorithm/").put_all(rank_.state);
}

std::optional<double> RankCheckpoints::restore() {
  agree_on_step();
  if (!shared_.resumed_step) return std::nullopt;
  const Context& raw = rank_.raw;
  const SavedState state = shared_.state_of(raw.world_rank);
  restore_training(state);
  if (!shared_.same_size()) {
    rank_.state.allow_other_sizes();
    return std::numeric_limits<double>::infinity();
  }
  StateRestorer rest(state, *raw.device, ""), rank(state, *raw.device, "rank/");
  double now_s = 0;
  Counters counters;
  rest.value("now_s", now_s);
  rest.value("counters", counters);
  records_.visit(rank);
  records_.timeline.rank_from_bytes(raw.world_rank, state.at("run/timeline").bytes);
  if (raw.world_rank == 0 && records_.arrived && state.entries().contains("run/arrived")) {
    ByteReader from(state.at("run/arrived").bytes);
    records_.arrived->count_on_from(from.get_list<std::vector<Counters>>());
  }
  if (shared_.experiment.world().simulated) sleep_exactly_until(*raw.stream, now_s);
  const double later_s = raw.stream->now() - now_s;
  barrier(raw);
  rank_.meter.count_on_from(counters);
  return later_s;
}

}  // namespace trigram

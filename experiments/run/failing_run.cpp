#include "experiments/run/failing_run.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "experiments/checkpoint/checkpoint_folder.h"
#include "experiments/exit_codes.h"
#include "experiments/run/part_process.h"
#include "netmodels/failures.h"

namespace trigram {
namespace {

/// A run is given up after so many crashes since its last checkpoint: each of them is less likely
/// than the one before to be followed by one that gets further.
constexpr int kMostVainParts = 100;

/// How long a job goes on for another checkpoint when its nodes change, as under `trigram launch`
/// (Supervisor::Options::checkpoint_wait_s).
constexpr double kCheckpointWait_s = 60;

/// A crash that is over when the job begins.
const Failure kBefore = {.at_s = -1, .rank = 0};

constexpr double kNoCrash_s = std::numeric_limits<double>::infinity();

}  // namespace

bool has_simulated_crashes(const Experiment& e) {
  const Failures& failures = e.cluster.failures;
  return e.world().simulated && !e.carries_on() &&
         (failures.heartbeats ||
          std::isfinite(FailureSequence(failures, e.cluster.nodes).next_crash(0).at_s) ||
          !node_changes(failures).empty());
}

FailingRun::FailingRun(const Experiment& e, CheckpointPlace place)
    : e_(e),
      counts_(node_counts(e.cluster.failures, e.cluster.nodes)),
      changes_(node_changes(e.cluster.failures)),
      sequence_(e.cluster.failures, std::ranges::max(counts_)),
      crash_(kBefore),
      later_(kBefore),
      job_(std::move(place)),
      part_{.nodes = e.cluster.nodes, .place = job_, .span = {.in_job = true}} {}

/// The checkpoint from which the next part continues.
std::optional<RestartPoint> FailingRun::latest() const {
  if (!e_.checkpoint) return std::nullopt;
  return latest_checkpoint(part_.place.folder, e_.checkpoint->keeps_copies(), lost_);
}

std::optional<long> FailingRun::latest_step() const {
  const auto point = latest();
  return point ? std::optional(point->step) : std::nullopt;
}

/// The time of the checkpoint from which the next part continues. Work since then is lost, at most
/// that since the present part began.
double FailingRun::checkpoint_s() const {
  const auto point = latest();
  if (!point) return part_.span.begin_s;
  double now_s = 0;
  const SavedState::Entry saved = CheckpointFolder(point->folder).read(point->step, 0).at("now_s");
  std::memcpy(&now_s, saved.bytes.data(), sizeof now_s);
  return std::max(now_s, part_.span.begin_s);
}

/// Begins with the number of nodes after all changes so far. A generation of another size has
/// checkpoints of its own, and begins with those of the one before.
void FailingRun::begin_generation(const std::optional<Interruption>& change) {
  Json generation = {{"nodes", counts_[changed_]},
                     {"begin_s", part_.span.begin_s},
                     {"from_step", step_.value_or(0)}};
  if (change) {
    if (latest_step()) earlier_ = {part_.place.folder, part_.nodes, part_.span.origin_s};
    part_.nodes = counts_[changed_];
    part_.place.folder = job_.folder / fmt::format("generation-{}", record_.generations.size() + 1);
    // With as many nodes as wrote the checkpoint, the run continues, and so does its summary.
    record_.origin_s = part_.span.origin_s =
        part_.nodes == earlier_.nodes ? earlier_.origin_s : part_.span.begin_s;
    generation.update({{"lost_s", change->lost_s}, {"recovery_s", change->recovery_s}});
  }
  record_.generations.push_back(std::move(generation));
}

/// Determines the next crash, and when the part ends.
void FailingRun::plan_end() {
  SimulatedSpan& span = part_.span;
  // Crashes while the job recovers are passed over, and so are those of absent nodes.
  const std::int64_t per_node = e_.cluster.workers_per_node;
  while (crash_.at_s < span.begin_s || crash_.last_rank(per_node) >= part_.nodes * per_node)
    crash_ = sequence_.next_crash(std::max(crash_.at_s, span.begin_s));
  span.checkpoint_s.reset();
  double end_s = crash_.at_s;
  if (changed_ < changes_.size()) {
    span.checkpoint_s = changes_[changed_].at_s;
    end_s = std::min(end_s, *span.checkpoint_s + kCheckpointWait_s);
  }
  span.end_s.reset();
  if (end_s < kNoCrash_s) span.end_s = end_s;
}

FailingRun::Ended FailingRun::end_of_part() const {
  const SimulatedSpan& span = part_.span;
  const double saved_s = checkpoint_s();
  if (span.checkpoint_s && saved_s >= *span.checkpoint_s && latest_step())
    return {.why = Ended::changed, .at_s = saved_s, .checkpoint_s = saved_s};
  const double suspected_s = detector_ ? detector_->suspected_s(suspected_rank()) : kNoCrash_s;
  if (suspected_s < span.end_s.value_or(kNoCrash_s))
    return {.why = Ended::suspected, .at_s = suspected_s, .checkpoint_s = saved_s};
  return {.why = *span.end_s == crash_.at_s ? Ended::crashed : Ended::changed,
          .at_s = *span.end_s,
          .checkpoint_s = saved_s};
}

/// The worker that is suspected first.
int FailingRun::suspected_rank() const {
  int first = 0;
  for (int rank = 1; rank < part_.nodes * e_.cluster.workers_per_node; ++rank)
    if (detector_->suspected_s(rank) < detector_->suspected_s(first)) first = rank;
  return first;
}

/// The time from the crash that has ended the part until it is noticed: until the first of its
/// workers is suspected.
double FailingRun::detection_s() const {
  if (!detector_) return e_.cluster.failures.detection_s;
  double noticed_s = kNoCrash_s;
  for (int rank = crash_.first_rank(e_.cluster.workers_per_node);
       rank <= crash_.last_rank(e_.cluster.workers_per_node); ++rank)
    noticed_s = std::min(noticed_s, detector_->deadline_s(rank));
  return std::max(0.0, noticed_s - crash_.at_s);
}

void FailingRun::record_suspicion(Interruption& interruption) {
  interruption.name = fmt::format("false suspicion of rank {}", suspected_rank());
  record_.suspicions.push_back({{"at_s", interruption.at_s},
                                {"rank", suspected_rank()},
                                {"from_step", step_.value_or(0)},
                                {"lost_s", interruption.lost_s},
                                {"recovery_s", interruption.recovery_s}});
}

/// Names the crash that has interrupted the job.
void FailingRun::record_crash(Interruption& interruption) {
  const bool node = crash_.node >= 0;
  const std::int64_t index = node ? crash_.node : crash_.rank;
  interruption.name = fmt::format("crash of {} {}", node ? "node" : "rank", index);
  record_.crashes.push_back({{"at_s", crash_.at_s},
                             {node ? "node" : "rank", index},
                             {"from_step", step_.value_or(0)},
                             {"lost_s", interruption.lost_s},
                             {"recovery_s", interruption.recovery_s}});
  if (e_.checkpoint && e_.checkpoint->keeps_copies()) {
    const auto point = latest();
    record_.crashes.back()["from_memory"] = point && point->in_memory;
  }
  crash_ = std::exchange(later_, kBefore);
}

/// Determines what is left in memory after the crashes until the job goes on, at `until_s`. The
/// crash of a rank alone leaves the memory of its node.
void FailingRun::lose_memory(double until_s) {
  if (!e_.checkpoint || !e_.checkpoint->keeps_copies()) return;
  std::set<std::int64_t> crashed;
  if (crash_.node >= 0) crashed.insert(crash_.node);
  for (later_ = sequence_.next_crash(crash_.at_s); later_.at_s <= until_s;
       later_ = sequence_.next_crash(later_.at_s))
    if (later_.node >= 0) crashed.insert(later_.node);
  without_memory_.assign(crashed.begin(), crashed.end());
  if (!loses_memory(without_memory_, part_.nodes)) return;
  without_memory_.clear();
  CheckpointFolder(memory_folder(part_.place.folder)).remove();
  lost_ = latest_checkpoint(part_.place.folder, false, {}).value_or(RestartPoint{}).step;
}

/// How long the ranks read their states from storage.
double FailingRun::reading_s() const {
  const auto point = latest();
  if (!point || point->in_memory || !e_.checkpoint->read_Bps) return 0;
  return CheckpointFolder(point->folder).read(point->step, 0).priced_bytes() /
         *e_.checkpoint->read_Bps;
}

/// Records why the part has ended, and determines when and on how many nodes the next one begins.
/// Returns the time at which the part ended.
double FailingRun::recover() {
  const Failures& failures = e_.cluster.failures;
  const Ended ended = end_of_part();
  const double restarts_s = (ended.why == Ended::crashed ? detection_s() : 0) + failures.restart_s;
  without_memory_.clear();
  if (ended.why == Ended::crashed) lose_memory(ended.at_s + restarts_s);
  if (latest_step()) step_ = latest_step();
  Interruption interruption{.name = "change of nodes",
                            .at_s = ended.at_s,
                            .lost_s = ended.at_s - checkpoint_s(),
                            .recovery_s = restarts_s + reading_s()};
  part_.span.begin_s = ended.at_s + interruption.recovery_s;
  if (ended.why == Ended::crashed) record_crash(interruption);
  if (ended.why == Ended::suspected) record_suspicion(interruption);
  record_.add(interruption);
  // The cost of a crash is not counted again for a change of nodes that happened meanwhile.
  if (ended.why != Ended::changed) interruption.lost_s = interruption.recovery_s = 0;
  while (changed_ < changes_.size() && changes_[changed_].at_s <= part_.span.begin_s) ++changed_;
  if (counts_[changed_] != part_.nodes) begin_generation(interruption);
  return ended.at_s;
}

/// Makes a part in a child process, and returns its wait status.
int FailingRun::run_part(const MakePart& make_part) {
  const Failures& failures = e_.cluster.failures;
  brought_back_s_ = 0;
  part_.span.brought_back_s = &brought_back_s_;
  if (failures.heartbeats) {
    detector_.emplace(*failures.heartbeats,
                      static_cast<std::size_t>(part_.nodes * e_.cluster.workers_per_node));
    part_.span.detector = &*detector_;
  }
  PartFile file;
  const int status = run_in_child([&] {
    const int code = make_part(part_);
    file.write(brought_back_s_, detector_);
    return code;
  });
  if (!WIFEXITED(status) || (WEXITSTATUS(status) != kCrashed && WEXITSTATUS(status) != kOk))
    return status;
  file.read(brought_back_s_, detector_);
  record_.add_recovery(brought_back_s_);
  part_.span.begin_s += brought_back_s_;  // work begins then
  if (detector_)
    record_.longest_heartbeat_s =
        std::max(record_.longest_heartbeat_s.value_or(0), detector_->longest_delay_s());
  return status;
}

int FailingRun::run(const MakePart& make_part) {
  if (e_.checkpoint) CheckpointFolder(job_.folder).remove();
  begin_generation({});
  for (int in_vain = 0;;) {
    plan_end();
    const auto point = latest();
    const auto before = latest_step();
    part_.place.resume = point.has_value();
    part_.place.from = !point                                ? earlier_.folder
                       : point->folder == part_.place.folder ? std::filesystem::path()
                                                             : point->folder;
    part_.place.without_memory =
        point && point->in_memory ? without_memory_ : std::vector<std::int64_t>();
    const int status = run_part(make_part);
    if (WIFSIGNALED(status)) {
      error_ = fmt::format("the process was ended by signal {}", WTERMSIG(status));
      return kRunFailed;
    }
    if (WEXITSTATUS(status) != kCrashed) return WEXITSTATUS(status);
    in_vain = latest_step() > before ? 0 : in_vain + 1;
    const double ended_s = recover();
    if (in_vain == kMostVainParts) {
      error_ = fmt::format(
          "{} {}, one after another, came before the next checkpoint; the last one was at "
          "{:g} s, after step {}. Expected fewer steps between checkpoints, or fewer failures",
          in_vain, record_.suspicions.empty() ? "crashes" : "crashes and false suspicions", ended_s,
          step_.value_or(0));
      return kRunFailed;
    }
  }
}

}  // namespace trigram

#include "experiments/run/failing_run.h"

#include <fmt/format.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>
#include <system_error>

#include "experiments/checkpoint/checkpoint_folder.h"
#include "experiments/exit_codes.h"
#include "netmodels/failures.h"

namespace trigram {
namespace {

/// A run is given up after so many crashes since its last checkpoint: each of them is less likely
/// than the one before to be followed by one that gets further.
constexpr int kMostVainParts = 100;

/// Runs `body` in a child process, which dies with this one, and returns its wait status.
int run_in_child(const std::function<int()>& body) {
  fflush(nullptr);  // otherwise the child would also write the content of the parent's buffers
  const pid_t parent = getpid(), child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "cannot fork");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // the parent died before the call of prctl
    const int code = body();
    fflush(nullptr);
    _exit(code);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::optional<long> latest_step(const CheckpointPlace& place) {
  const std::vector<long> steps = CheckpointFolder(place.folder).steps();
  return steps.empty() ? std::nullopt : std::optional(steps.front());
}

}  // namespace

bool has_simulated_crashes(const Experiment& e) {
  return e.world().simulated && !e.carries_on() &&
         std::isfinite(FailureSequence(e.cluster.failures, e.cluster.nodes).next_crash(0).at_s);
}

Json CrashRecord::to_json(double time_s) const {
  return {{"recovery", "restart"},
          {"crashes", crashes},
          {"lost_s", lost_s},
          {"recovery_s", recovery_s},
          {"goodput", (time_s - lost_s - recovery_s) / time_s}};
}

FailingRun::FailingRun(const Experiment& e, CheckpointPlace place)
    : e_(e), place_(std::move(place)) {}

/// The time of the checkpoint from which the next part continues. Work since then is lost, at most
/// that since the present part began.
double FailingRun::checkpoint_s(double part_began_s) const {
  const auto step = e_.checkpoint ? latest_step(place_) : std::nullopt;
  if (!step) return part_began_s;
  double now_s = 0;
  const SavedState::Entry saved = CheckpointFolder(place_.folder).read(*step, 0).at("now_s");
  std::memcpy(&now_s, saved.bytes.data(), sizeof now_s);
  return std::max(now_s, part_began_s);
}

int FailingRun::run(const MakePart& make_part) {
  const Failures& failures = e_.cluster.failures;
  FailureSequence sequence(failures, e_.cluster.nodes);
  if (e_.checkpoint) CheckpointFolder(place_.folder).remove();
  SimulatedSpan span;
  std::optional<long> step;  // of the last checkpoint
  for (int in_vain = 0;;) {
    const Failure crash = sequence.next_crash(span.begin_s);
    span.end_s = crash.at_s;
    if (!std::isfinite(crash.at_s)) span.end_s.reset();
    place_.resume = step.has_value();
    const int status = run_in_child([&] { return make_part(place_, span); });
    if (WIFSIGNALED(status)) {
      error_ = fmt::format("the process was ended by signal {}", WTERMSIG(status));
      return kRunFailed;
    }
    if (WEXITSTATUS(status) != kCrashed) return WEXITSTATUS(status);
    const auto now = e_.checkpoint ? latest_step(place_) : std::nullopt;
    in_vain = now > step ? 0 : in_vain + 1;
    step = now;
    const double lost_s = crash.at_s - checkpoint_s(span.begin_s);
    const double recovery_s = failures.detection_s + failures.restart_s;
    record_.lost_s += lost_s;
    record_.recovery_s += recovery_s;
    const bool node = crash.node >= 0;
    record_.crashes.push_back({{"at_s", crash.at_s},
                               {node ? "node" : "rank", node ? crash.node : crash.rank},
                               {"from_step", step.value_or(0)},
                               {"lost_s", lost_s}});
    if (in_vain == kMostVainParts) {
      error_ = fmt::format(
          "{} crashes, one after another, came before the next checkpoint; the last one was at "
          "{:g} "
          "s, after step {}. Expected fewer steps between checkpoints, or fewer failures",
          in_vain, crash.at_s, step.value_or(0));
      return kRunFailed;
    }
    span.begin_s = crash.at_s + recovery_s;
  }
}

}  // namespace trigram

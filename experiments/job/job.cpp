#include "experiments/job/job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <utility>

#include "core/config/component.h"
#include "core/config/config_error.h"
#include "core/logging/rank_log.h"
#include "core/printable.h"
#include "experiments/config/plan_json.h"
#include "experiments/emulate/launch.h"
#include "experiments/exit_codes.h"
#include "experiments/job/verdicts.h"
#include "experiments/results/machine.h"
#include "experiments/version.h"
#include "runtime/host/signal_message.h"
#include "runtime/mpi/mpi_runtime.h"

namespace trigram {
namespace {

/// The timeout of processes other than rank 0 until they have the plan, from which they learn the
/// watchdog's timeout. It is longer than a timeout that a user is likely to set for a job that
/// starts slowly.
constexpr double kLongestStart_s = 600;

std::vector<std::string>& job_arguments() {
  static std::vector<std::string> arguments;
  return arguments;
}

/// The input that rank 0 sends to the other processes before they begin.
struct Resolved {
  Json content = nullptr;  // the argument of `use` (see `share`); null if rank 0 has an error
  double watchdog_s = MpiOptions{}.watchdog_s;
};

std::string serialized(const Resolved& resolved) {
  const Json j = {{"arguments", job_arguments()},
                  {"content", resolved.content},
                  {"watchdog_s", resolved.watchdog_s}};
  // Arguments may contain file names, which need not be valid UTF-8.
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Returns the text of the error that `call` throws, or an empty text. An error that is not about
/// the input, such as a lack of memory, ends the job.
std::string error_raised_by(const std::function<void()>& call) {
  try {
    call();
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  } catch (const std::exception& error) {
    mpi_abort(printable(error.what()), kRunFailed);
  }
}

/// Every process calls `prepare`; the other processes then call `use` with the content that
/// `prepare` returned on rank 0. Collective. Throws the same ConfigError on all processes if one of
/// them has an error, or if their arguments differ.
void share(const std::function<Resolved(bool first)>& prepare,
           const std::function<void(const Json&)>& use) {
  const bool first = rank_in_job() == 0;
  Resolved own;
  std::string verdict = error_raised_by([&] { own = prepare(first); });
  mpi_start(first ? own.watchdog_s : kLongestStart_s);
  const Json message = Json::parse(mpi_exchange(first ? serialized(own) : "").front());
  if (!first) {
    // serialized() replaces bytes that are not valid UTF-8, so the arguments of this process are
    // compared after the same conversion.
    const Json arguments = Json::parse(serialized(own)).at("arguments");
    const std::string difference = compare_arguments(arguments, message.at("arguments"));
    if (!difference.empty()) verdict = difference;
    else if (message.at("content").is_null()) verdict.clear();  // the error of rank 0 is enough
    else if (verdict.empty()) verdict = error_raised_by([&] { use(message.at("content")); });
  }
  // Other processes load and hash input files meanwhile, which may take longer than a short
  // watchdog allows.
  constexpr double kLeastCheck_s = 30;
  check_verdicts(
      mpi_exchange(verdict, std::max(message.at("watchdog_s").get<double>(), kLeastCheck_s)));
}

bool is_world_of_processes(const Json& runtime) {
  return find_component(worlds(), "world", runtime, "--runtime").processes;
}

}  // namespace

bool in_a_job() { return mpi_unavailable_reason().empty(); }

bool has_other_processes() { return in_a_job() && mpi_process().size > 1; }

int rank_in_job() { return in_a_job() ? mpi_process().rank : 0; }

void begin_in_job(const std::filesystem::path& folder, const std::string& parting) {
  const MpiProcess process = mpi_process();
  std::filesystem::path file;
  if (!folder.empty()) {
    file = folder / fmt::format("rank-{}.log", process.rank);
    try {
      std::filesystem::create_directories(folder);
      rank_log::open(file);
    } catch (const std::exception& error) {
      throw ConfigError("--rank-logs",
                        fmt::format("expected a folder that can be written; {}", error.what()));
    }
    rank_log::print("trigram {}, rank {} of {}, process {} on {}", version().git, process.rank,
                    process.size, getpid(), host_name());
  }
  signal_message::set(fmt::format("rank {} prepares its runs", process.rank));
  signal_message::end_on_signals(fmt::format("trigram: rank {}", process.rank),
                                 process.rank == 0 ? parting : "", kInterrupted, file);
}

void check_for_job(const Plan& plan) {
  const int processes = mpi_process().size;
  const auto environment = [](const PlannedRun& run) {
    return run.experiment.runtime.value("environment", Json());
  };
  for (const PlannedRun& run : plan.runs) {
    if (environment(run) != environment(plan.runs.front()))
      throw ConfigError("/runtime/environment",
                        "differs between the runs of a job, and NCCL reads it only once; start a "
                        "job for each value, as trigram tune --launcher does");
    const World& world = run.experiment.world();
    if (!world.processes)
      throw ConfigError("/runtime",
                        fmt::format("a launcher started {} processes, each of which would run the "
                                    "whole world \"{}\"; expected a world of processes: mpi",
                                    processes, world.name));
    if (run.experiment.emulates() && std::getenv(kEmulationVariable) == nullptr)
      throw ConfigError(
          "/runtime/emulated",
          "is set only by trigram emulate, which makes the network; expected \"nothing\"");
    if (run.experiment.cluster.ranks() != processes)
      throw ConfigError(
          "/cluster", fmt::format("expected as many workers as processes were started, {}, not {}; "
                                  "start {}: mpirun -n {} ...",
                                  processes, run.experiment.cluster.ranks(),
                                  run.experiment.cluster.ranks(), run.experiment.cluster.ranks()));
  }
}

void set_job_arguments(std::vector<std::string> arguments) {
  job_arguments() = std::move(arguments);
}

PlanInJob plan_here_or_in_job(const std::function<Plan(bool in_job)>& make, const JobBegin& begin) {
  if (!in_a_job()) return {make(false), false};
  Plan plan;
  if (!has_other_processes()) {
    plan = make(false);
    if (std::ranges::none_of(
            plan.runs, [](const PlannedRun& run) { return run.experiment.world().processes; }))
      return {std::move(plan), false};
    begin_in_job(begin.rank_logs, begin.parting);
    check_for_job(plan);
    return {std::move(plan), true};
  }
  const auto prepare = [&](bool first) -> Resolved {
    begin_in_job(begin.rank_logs, begin.parting);
    if (!first) return {};
    plan = make(true);
    return {to_json(plan), watchdog_s(plan)};
  };
  share(prepare, [&plan](const Json& sent) { plan = plan_from_json(sent); });
  return {std::move(plan), true};
}

bool resolve_here_or_in_job(const std::function<Json()>& read,
                            const std::function<void(const Json&)>& use) {
  if (!has_other_processes()) {
    const Json own = read();
    const bool job = in_a_job() && is_world_of_processes(own.at("runtime"));
    if (job) begin_in_job();
    use(own);
    return job;
  }
  const auto prepare = [&](bool first) -> Resolved {
    begin_in_job();
    if (!first) return {};
    Json own = read();
    use(own);
    return {own, watchdog_s(own.at("runtime"))};
  };
  share(prepare, use);
  return true;
}

void agree_on_error(const std::string& error) {
  if (!has_other_processes()) return;
  const auto prepare = [&](bool) -> Resolved {
    begin_in_job();
    // Printed even if the launcher ends this process because other processes never take part.
    signal_message::set(fmt::format("rank {}: {}", rank_in_job(), error));
    throw ConfigError({Mistake{"", "", Mistake::Kind::wrong, error}});
  };
  share(prepare, {});
}

std::vector<bool> agree_on_runs(const Plan& plan, const std::vector<bool>& wanted_by_rank_0) {
  std::string bits;
  for (const bool wanted : wanted_by_rank_0) bits += wanted ? '1' : '0';
  const auto texts = mpi_exchange(bits, watchdog_s(plan));
  std::vector<bool> wanted;
  for (const char c : texts.front()) wanted.push_back(c == '1');
  return wanted;
}

Cores agree_on_cores(double watchdog_s) {
  return cores_of_processes(mpi_exchange(cores_statement(), watchdog_s), mpi_process().rank);
}

double watchdog_s(const Json& runtime) {
  return quantity(Dimension::duration, true).parse(runtime.at("watchdog"), "/runtime/watchdog");
}

double watchdog_s(const Plan& plan) {
  if (plan.runs.empty()) return MpiOptions{}.watchdog_s;
  double longest = 0;
  for (const PlannedRun& run : plan.runs)
    longest = std::max(longest, watchdog_s(run.experiment.runtime));
  return longest;
}

}  // namespace trigram

#include "experiments/job/job.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>

#include "core/config/component.h"
#include "core/config/config_error.h"
#include "core/logging/rank_log.h"
#include "experiments/emulate/launch.h"
#include "experiments/exit_codes.h"
#include "experiments/job/plan_difference.h"
#include "experiments/job/statement.h"
#include "experiments/version.h"
#include "runtime/host/signal_message.h"
#include "runtime/mpi/mpi_runtime.h"

namespace trigram {
namespace {

/// The name and run ids of a plan as text, which is equal for equal plans.
std::string text_of(const Plan& plan) {
  std::string runs;
  for (const PlannedRun& run : plan.runs) runs += run.id + " ";
  return runs + plan.name;
}

/// Calls `make` to complete `mine`, or records its error, then exchanges statements with all
/// processes and returns them. Throws on all processes if one has an error. `make` returns how many
/// seconds apart processes may arrive.
std::vector<Statement> exchange_or_throw(Statement mine,
                                         const std::function<double(Statement&)>& make) {
  double watchdog_s = MpiOptions{}.watchdog_s;
  std::exception_ptr error;
  try {
    watchdog_s = make(mine);
  } catch (const std::exception& e) {
    mine.error = e.what();
    error = std::current_exception();
  }
  std::vector<Statement> statements = exchange_statements(mine, watchdog_s);
  if (error) std::rethrow_exception(error);
  return statements;
}

/// The index of the first run in which the plans differ.
std::size_t first_apart(const std::vector<std::string>& texts) {
  std::size_t same = texts[0].size();
  for (const std::string& text : texts) {
    const auto length = static_cast<std::ptrdiff_t>(std::min(same, text.size()));
    const auto end = std::mismatch(text.begin(), text.begin() + length, texts[0].begin()).first;
    same = static_cast<std::size_t>(end - text.begin());
  }
  return static_cast<std::size_t>(
      std::count(texts[0].begin(), texts[0].begin() + std::ptrdiff_t(same), ' '));
}

/// Returns the plan that `make` makes; throws unless all processes have the same invocation and
/// plan.
Plan agree_on_plan(const Invocation& invocation, const std::function<Plan()>& make) {
  Plan plan;
  const Statement mine{invocation.command, invocation.options};
  std::vector<std::string> texts;
  for (Statement& s : exchange_or_throw(mine, [&](Statement& statement) {
         plan = make();
         statement.runs = text_of(plan);
         return watchdog_s(plan);
       }))
    texts.push_back(std::move(s.runs));
  if (std::all_of(texts.begin(), texts.end(), [&](const auto& text) { return text == texts[0]; }))
    return plan;
  const auto descriptions = mpi_exchange(describe_plan(plan, first_apart(texts)), watchdog_s(plan));
  throw ConfigError("", fmt::format("the processes of the job have different runs to make; "
                                    "expected the same files and arguments on all of them; {}",
                                    plan_difference(texts, descriptions)));
}

bool is_of_processes(const Json& runtime) {
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
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    rank_log::print("trigram {}, rank {} of {}, process {} on {}", version().git, process.rank,
                    process.size, getpid(), host.data());
  }
  signal_message::set(fmt::format("rank {} prepares its runs", process.rank));
  signal_message::end_on_signals(fmt::format("trigram: rank {}", process.rank),
                                 process.rank == 0 ? parting : "", kInterrupted, file);
}

void check_for_job(const Plan& plan) {
  const int processes = mpi_process().size;
  for (const PlannedRun& run : plan.runs) {
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

PlanInJob plan_here_or_in_job(const Invocation& invocation,
                              const std::function<Plan(bool in_job)>& make) {
  if (!in_a_job()) return {make(false), false};
  if (!has_other_processes()) {
    Plan plan = make(false);
    if (std::none_of(plan.runs.begin(), plan.runs.end(),
                     [](const PlannedRun& run) { return run.experiment.world().processes; }))
      return {std::move(plan), false};
  }
  return {agree_on_plan(invocation, [&] { return make(true); }), true};
}

bool resolve_here_or_in_job(const std::string& command, const std::function<Json()>& resolve) {
  const bool maybe = in_a_job();
  if (!maybe || !has_other_processes()) {
    const Json options = resolve();
    if (!maybe || !is_of_processes(options.at("--runtime"))) return false;
  }
  begin_in_job();
  exchange_or_throw({command}, [&](Statement& statement) {
    statement.options = resolve();
    return watchdog_s(statement.options.at("--runtime"));
  });
  return true;
}

void agree_on_error(const std::string& error, const std::string& command) {
  if (!has_other_processes()) return;
  begin_in_job();
  // Printed even if the launcher ends this process because others never take part in the exchange.
  signal_message::set(fmt::format("rank {}: {}", rank_in_job(), error));
  Statement mine{command};
  mine.error = error;
  exchange_statements(mine, MpiOptions{}.watchdog_s);
}

std::vector<bool> agree_on_runs(const Plan& plan, const std::vector<bool>& wanted_by_rank_0) {
  std::string mine;
  for (const bool wanted : wanted_by_rank_0) mine += wanted ? '1' : '0';
  const auto texts = mpi_exchange(mine, watchdog_s(plan));
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

#include "experiments/launch/supervisor.h"

#include <fmt/args.h>
#include <fmt/format.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>

#include "core/config/config_error.h"
#include "core/printable.h"
#include "experiments/exit_codes.h"
#include "experiments/process/forwarding.h"
#include "experiments/process/signals.h"
#include "experiments/results/durable.h"
#include "experiments/run/rank_main.h"
#include "experiments/sweep/launcher.h"
#include "experiments/text/text_table.h"

namespace trigram {
namespace {

double clock_s() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

// Exit codes of a shell that could not start a command.
constexpr int kNotExecutable = 126, kNotFound = 127;

/// The exit code of a process, or 128 + its signal.
int code_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

std::string describe_code(int code) {
  if (code == kWatchdog) return "a process was not heard of any more, or all of them waited";
  if (code > 128 && code != kInterrupted)
    return fmt::format("a process was ended by signal {}", code - 128);
  return fmt::format("the job ended with exit code {}", code);
}

/// The launcher with values in its braces.
std::string filled_in(const std::string& launcher, const NodeList& nodes, int workers_per_node) {
  fmt::dynamic_format_arg_store<fmt::format_context> values;
  values.push_back(fmt::arg("ranks", static_cast<int>(nodes.size()) * workers_per_node));
  values.push_back(fmt::arg("nodes", nodes.size()));
  values.push_back(fmt::arg("hosts", hosts_with_slots(nodes, workers_per_node)));
  values.push_back(fmt::arg("names", host_names(nodes)));
  return fmt::vformat(launcher, values);
}

}  // namespace

void check_launcher(const std::string& launcher) {
  try {
    filled_in(launcher, {"localhost"}, 1);
  } catch (const fmt::format_error&) {
    throw ConfigError("--launcher", fmt::format("{}: expected no braces but {{ranks}}, {{nodes}}, "
                                                "{{hosts}} and {{names}}",
                                                printable(launcher)));
  }
}

double Supervisor::now_s() const { return clock_s() - started_s_; }

Supervisor::Supervisor(Options options, Job job)
    : options_(std::move(options)),
      job_(std::move(job)),
      failures_(options_.failures, options_.nodes.most, options_.workers_per_node,
                options_.processes) {}

int Supervisor::run() {
  started_s_ = clock_s();
  Signals signals;  // a signal between two generations stays pending, and ends the next one
  int failures = 0;
  for (;;) {
    const auto nodes = wait_for_nodes();
    if (!nodes) return interrupted_ ? kInterrupted : kRunFailed;
    generations_.push_back(run_generation(*nodes, signals));
    write_record();
    const Generation& ended = generations_.back();
    if (ended.interrupted) return kInterrupted;
    if (ended.code == kNotExecutable || ended.code == kNotFound)
      throw ConfigError("--launcher", fmt::format("{} could not be started",
                                                  printable(launcher_command(*nodes))));
    if (ended.code == kOk || ended.code == kBadInput) return ended.code;
    if (ended.resized) {
      announce(ended, "the nodes changed");
      continue;
    }
    announce(ended, describe_code(ended.code));
    if (would_fail_again()) {
      spdlog::error("the run failed by itself and would fail again: {}", ended.error);
      return kRunFailed;
    }
    if (++failures > options_.max_restarts) {
      spdlog::error("{} generations failed, and --max-restarts is {}", failures,
                    options_.max_restarts);
      return kRunFailed;
    }
  }
}

/// True if no process has died, and the run has failed for a reason of its own: its training has
/// diverged, or it has failed like the generation before, which got no further.
bool Supervisor::would_fail_again() const {
  const Generation& last = generations_.back();
  if (last.code != kRunFailed || last.error.empty()) return false;
  if (last.error.starts_with(kDiverged)) return true;
  if (generations_.size() < 2) return false;
  const Generation& before = generations_[generations_.size() - 2];
  return before.error == last.error && before.to_step == last.to_step;
}

/// The nodes that a generation would use now, at most as many as are wanted.
NodeList Supervisor::usable_nodes() const {
  NodeList nodes = job_.nodes();
  // Only nodes of this machine leave and join as the description says; all have the same name.
  const int joined = failures_.joined_nodes();
  if (joined != 0 && !nodes.empty())
    nodes.resize(static_cast<std::size_t>(std::max(0, static_cast<int>(nodes.size()) + joined)),
                 std::string(nodes.front()));
  nodes.resize(std::min(nodes.size(), static_cast<std::size_t>(options_.nodes.most)));
  return nodes;
}

/// Empty if there were too few nodes for too long, or if a signal arrived.
std::optional<NodeList> Supervisor::wait_for_nodes() {
  Signals signals;
  const double began_s = clock_s();
  for (bool said = false;; said = true) {
    NodeList nodes = usable_nodes();
    if (static_cast<int>(nodes.size()) >= options_.nodes.least) return nodes;
    if (!said)
      spdlog::info("waiting for nodes: there are {}, and at least {} are needed", nodes.size(),
                   options_.nodes.least);
    if (clock_s() - began_s > options_.node_wait_s) {
      spdlog::error("there were fewer than {} nodes for {:g} s", options_.nodes.least,
                    options_.node_wait_s);
      return std::nullopt;
    }
    const int signal = signals.wait(1);
    if (signal == 0 || signal == SIGCHLD) continue;
    interrupted_ = true;
    return std::nullopt;
  }
}

std::string Supervisor::launcher_command(const NodeList& nodes) const {
  return filled_in(options_.launcher, nodes, options_.workers_per_node);
}

/// Ends a generation whose nodes are not those that a new one would have. It gets the time to write
/// one more checkpoint.
void Supervisor::end_if_nodes_changed(Generation& generation, pid_t launcher) {
  if (generation.resized || now_s() < generation.asked_s + 1) return;
  generation.asked_s = now_s();
  if (usable_nodes() == generation.nodes) {
    generation.changed_s.reset();
    return;
  }
  if (!generation.changed_s) {
    generation.changed_s = now_s();
    generation.to_step = job_.checkpoint_steps();
    spdlog::info("the nodes changed; this generation ends after its next checkpoint");
  }
  const bool waits = now_s() - *generation.changed_s < options_.checkpoint_wait_s;
  if (waits && job_.checkpoint_steps() <= generation.to_step) return;
  generation.resized = true;
  kill(launcher, SIGTERM);
}

Supervisor::Generation Supervisor::run_generation(const NodeList& nodes, Signals& signals) {
  Generation generation{.nodes = nodes, .from_step = job_.checkpoint_steps(), .begin_s = now_s()};
  const int count = static_cast<int>(nodes.size()), ranks = count * options_.workers_per_node;
  spdlog::info("generation {}: {} nodes, {} workers, from step {}", generations_.size() + 1, count,
               ranks, generation.from_step);
  const EndedChild ended = run_forwarding_signals(
      [&] {
        signals.restore();
        become_launcher(launcher_command(nodes), job_.arguments(count));
      },
      [&](pid_t launcher) {
        failures_.tick(now_s(), launcher, ranks);
        end_if_nodes_changed(generation, launcher);
      });
  generation.interrupted = ended.interrupted;
  generation.code = code_of(ended.wait_status);
  generation.end_s = now_s();
  generation.to_step = job_.checkpoint_steps();
  if (generation.code == kRunFailed) generation.error = job_.error(count);
  return generation;
}

void Supervisor::announce(const Generation& ended, const std::string& why) const {
  spdlog::warn("generation {} ended after {:.1f} s: {}; the newest checkpoint is that of step {}",
               generations_.size(), ended.end_s - ended.begin_s, why, ended.to_step);
}

void Supervisor::write_record() const {
  Json list = Json::array();
  for (const Generation& g : generations_)
    list.push_back({{"nodes", g.nodes},
                    {"workers", static_cast<int>(g.nodes.size()) * options_.workers_per_node},
                    {"begin_s", g.begin_s},
                    {"end_s", g.end_s},
                    {"from_step", g.from_step},
                    {"to_step", g.to_step},
                    {"exit_code", g.code},
                    {"end", end_of(g)}});
  std::filesystem::create_directories(options_.record.parent_path());
  const Json record = {{"generations", list}, {"failures", failures_.happened()}};
  replace_file(options_.record, record.dump(1) + "\n");
}

std::string Supervisor::end_of(const Generation& g) {
  if (g.code == kOk) return "complete";
  if (g.interrupted) return "interrupted";
  return g.resized ? "other nodes" : describe_code(g.code);
}

std::string Supervisor::table() const {
  std::vector<std::vector<std::string>> lines = {
      {"generation", "end", "nodes", "workers", "from step", "to step", "seconds"}};
  for (const Generation& g : generations_)
    lines.push_back({std::to_string(lines.size()), end_of(g), std::to_string(g.nodes.size()),
                     std::to_string(static_cast<int>(g.nodes.size()) * options_.workers_per_node),
                     std::to_string(g.from_step), std::to_string(g.to_step),
                     fmt::format("{:.1f}", g.end_s - g.begin_s)});
  return aligned(lines, 2);
}

}  // namespace trigram

// `replay`: measures how long the layers of a profile take on this machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/config/config_error.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/common_options.h"
#include "experiments/config/plan.h"
#include "experiments/exit_codes.h"
#include "experiments/job/job.h"
#include "experiments/run/replay_times.h"

namespace trigram {
namespace {

struct ReplayOptions {
  std::string config;
  std::vector<std::string> settings;
  long steps = 3;
  bool as_json = false;
};

using Pass = ReplayedLayer::Pass;

Pass operator+(const Pass& a, const Pass& b) {
  return {a.flops + b.flops, a.profile_s + b.profile_s, a.measured_s + b.measured_s};
}

ReplayedLayer total(const std::vector<ReplayedLayer>& layers) {
  ReplayedLayer sum{.tensor = "total", .forward = {}, .backward = {}};
  for (const ReplayedLayer& layer : layers) {
    sum.numel += layer.numel;
    sum.forward = sum.forward + layer.forward;
    sum.backward = sum.backward + layer.backward;
  }
  return sum;
}

Json json_of(const Pass& pass) {
  return {{"flops", pass.flops}, {"profile_s", pass.profile_s}, {"measured_s", pass.measured_s}};
}

Json json_of(const ReplayedLayer& layer) {
  return {{"tensor", layer.tensor},
          {"numel", layer.numel},
          {"forward", json_of(layer.forward)},
          {"backward", json_of(layer.backward)}};
}

std::string cells(const Pass& pass) {
  const double ratio = pass.profile_s > 0 ? pass.measured_s / pass.profile_s : 0;
  return fmt::format("{:>10.3f}  {:>9.3f}  {:>9.3f}  {:>8}", pass.flops / 1e9, pass.profile_s * 1e3,
                     pass.measured_s * 1e3, ratio > 0 ? fmt::format("{:.2f}", ratio) : "–");
}

/// Tensors without matrix products have no line of their own, but the total includes them.
void print_table(const std::vector<ReplayedLayer>& layers) {
  std::size_t width = 0;
  for (const ReplayedLayer& layer : layers) width = std::max(width, layer.tensor.size());
  const auto columns = [](const char* pass) {
    return fmt::format("{:>10}  {:>9}  {:>9}  {:>8}", fmt::format("{} GFLOP", pass), "profile",
                       "here (ms)", "ratio");
  };
  fmt::print("{:{}}  {:>11}  {}  {}\n", "tensor", width, "elements", columns("fwd"),
             columns("bwd"));
  const auto line = [width](const ReplayedLayer& layer) {
    fmt::print("{:{}}  {:>11.0f}  {}  {}\n", layer.tensor, width, layer.numel, cells(layer.forward),
               cells(layer.backward));
  };
  for (const ReplayedLayer& layer : layers)
    if (layer.forward.flops + layer.backward.flops > 0) line(layer);
  const ReplayedLayer sum = total(layers);
  line(sum);
  const auto rate = [](const Pass& pass) { return pass.flops / pass.measured_s / 1e9; };
  fmt::print("rate: {:.1f} GFLOP/s forward, {:.1f} GFLOP/s backward\n", rate(sum.forward),
             rate(sum.backward));
}

int replay(const ReplayOptions& options) {
  const auto make = [&options](bool in_job) {
    Plan plan = make_plan(options.config, options.settings);
    if (in_job) check_for_job(plan);
    if (plan.runs.size() != 1)
      throw ConfigError(
          "/sweep",
          fmt::format(
              "expected one run to replay, not {}; set what is swept to one value with --set",
              plan.runs.size()));
    return plan;
  };
  const Plan plan = plan_here_or_in_job(make).plan;
  const PlannedRun& run = plan.runs.front();
  const auto layers = replay_layers(run.experiment, *run.workload, options.steps);
  if (layers.empty()) return kOk;  // only rank 0 prints
  if (!options.as_json) {
    print_table(layers);
    return kOk;
  }
  Json json = {{"world", run.experiment.world().name},
               {"ranks", run.experiment.cluster.ranks()},
               {"steps", options.steps},
               {"total", json_of(total(layers))},
               {"layers", Json::array()}};
  for (const ReplayedLayer& layer : layers) json["layers"].push_back(json_of(layer));
  fmt::print("{}\n", json.dump(2));
  return kOk;
}

}  // namespace

void add_replay_command(CLI::App& app, const GlobalOptions&, Action& action) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* command = app.add_subcommand("replay",
                                         "Print the times of the layers of a replayed profile on "
                                         "this machine beside the profile's times");
  command->add_option("config", options->config, "An experiment whose workload is a replay")
      ->required();
  add_set_option(*command, options->settings);
  command->add_option("--steps", options->steps, "Number of repetitions after one warm-up")
      ->check(CLI::Range(1L, 1'000'000L))
      ->capture_default_str();
  command->add_flag("--json", options->as_json, "Print JSON");
  command->callback([options, &action] { action = [options] { return replay(*options); }; });
}

}  // namespace trigram

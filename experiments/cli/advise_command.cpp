// `advise`: says which algorithm is best on a network, and what would change the answer.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "experiments/advise/bucket_search.h"
#include "experiments/cli/advice_output.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/common_options.h"
#include "experiments/exit_codes.h"
#include "experiments/results/durable.h"

namespace trigram {
namespace {

struct Options {
  Question question;
  std::string target = "throughput", step_time;
  std::optional<double> budget_usd;
  std::optional<std::string> mtbf, detection, restart, checkpoint_time;
  Advisor::Options advisor;
  std::size_t tune = 0;  // candidates whose buckets are searched
  bool as_json = false;
};

/// Reads the options about failures. Without --mtbf, the others have no effect and are refused.
RestartCost failures_of(const Options& options) {
  RestartCost failures = options.question.failures;
  const auto read = [](const std::optional<std::string>& text, const char* flag, bool positive,
                       double& value_s) {
    if (text) value_s = quantity(Dimension::duration, positive).parse(*text, flag);
  };
  read(options.mtbf, "--mtbf", true, failures.node_mtbf_s);
  read(options.detection, "--detection", false, failures.detection_s);
  read(options.restart, "--restart", false, failures.restart_s);
  read(options.checkpoint_time, "--checkpoint-time", true, failures.checkpoint_s);
  if (!failures.none()) return failures;
  for (const auto& [flag, given] :
       {std::pair("--detection", options.detection.has_value()),
        std::pair("--restart", options.restart.has_value()),
        std::pair("--checkpoint-time", options.checkpoint_time.has_value()),
        std::pair("--checkpoint-every", failures.every > 0)})
    if (given) throw ConfigError(flag, "has no effect here; expected --mtbf beside it");
  return failures;
}

int advise(Options& options, bool quiet) {
  options.question.target = Target::parse(options.target);
  options.question.target.budget_usd = options.budget_usd;
  options.question.failures = failures_of(options);
  if (!options.step_time.empty())
    options.question.step_s =
        quantity(Dimension::duration, true).parse(options.step_time, "--step-time");
  options.advisor.quiet = quiet;
  try {
    std::vector<TunedBucket> tuned;
    if (options.tune > 0) tuned = tune_buckets(options.question, options.advisor, options.tune);
    const Contest contest(options.question);
    Advisor advisor(contest, options.advisor);
    const auto print_ranking = [&](const Advice& ranked) {
      if (options.as_json) return;
      fmt::print("{}", ranking_text(ranked, contest));
      std::fflush(stdout);  // what would change the order can take many times as long
    };
    const Advice advice = advisor.advise(std::move(tuned), print_ranking);
    const std::string json = advice_json(advice, contest, advisor).dump(2) + "\n";
    // `table` and `report` of the folder repeat the warnings: its runs alone do not show them.
    replace_file(advisor.results() / "advice.json", json);
    if (options.as_json) fmt::print("{}", json);
    else fmt::print("{}", sensitivity_text(advice, contest, advisor));
    return advisor.failed() ? kRunFailed : kOk;
  } catch (const Advisor::Stopped& stopped) {
    return stopped.code;
  }
}

/// Adds the options that define the question.
void add_question_options(CLI::App* command, const std::shared_ptr<Options>& options) {
  Question& question = options->question;
  command
      ->add_option("--cluster", question.cluster,
                   "File that describes the cluster, or name of a preset")
      ->required();
  command
      ->add_option("--profile", question.profile,
                   "Model: a profile from trigram list workloads, or profile:PATH")
      ->required();
  command
      ->add_option("--target", options->target,
                   "What to compare: throughput, or time to an accuracy or a held-out loss, as in "
                   "accuracy=0.8 or loss=0.5")
      ->capture_default_str();
  command
      ->add_option(
          "--budget", options->budget_usd,
          "US dollars to spend: rank by the samples that they buy, or leave out candidates "
          "that spend more until the accuracy or loss; the cluster needs prices")
      ->check(finite_between(1e-6, 1e15));
  command->add_option("--step-time", options->step_time,
                      "Measured time of a forward and a backward pass on the cluster's "
                      "accelerator, such as 51ms; by default, the profile's time is scaled");
  command
      ->add_option_function<std::size_t>(
          "--batch", [options](std::size_t batch) { options->question.batch = batch; },
          "Samples per worker and step, instead of the profile's")
      ->check(CLI::PositiveNumber);
  command->add_option("--candidates", question.candidates,
                      "An experiment that sweeps over the algorithms to compare, such as a copy of "
                      "configs/advise.json");
  command->add_option("--algorithms", question.algorithms, "Compare only these candidates")
      ->delimiter(',');
  command
      ->add_option("--only", question.relaxations,
                   "Compare only candidates with all of these properties: sync or async, full or "
                   "low, centralised or decentralised")
      ->delimiter(',');
}

/// Adds the options about failures of nodes.
void add_failure_options(CLI::App* command, const std::shared_ptr<Options>& options) {
  command->add_option("--mtbf", options->mtbf,
                      "Mean time between two failures of a node, such as 24h. Candidates are then "
                      "compared with what failures and checkpoints cost");
  command->add_option("--detection", options->detection,
                      "Time from a failure until it is noticed; 0s by default");
  command->add_option("--restart", options->restart,
                      "Time from then on until training goes on; 0s by default");
  command->add_option("--checkpoint-time", options->checkpoint_time,
                      "Time that a checkpoint takes; 10s by default");
  command
      ->add_option("--checkpoint-every", options->question.failures.every,
                   "Steps from one checkpoint to the next; by default, by Young's rule")
      ->check(CLI::Range(1, 1'000'000'000));
}

}  // namespace

void add_advise_command(CLI::App& app, const GlobalOptions& global, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "advise", "Say which algorithm is best on a network and what would change the answer");
  add_question_options(command, options);
  add_failure_options(command, options);
  command
      ->add_option("--range", options->advisor.range,
                   "Largest factor by which bandwidth and latency are changed")
      ->check(finite_between(1.1, 1e6))
      ->capture_default_str();
  command->add_flag("--ranking-only", options->advisor.ranking_only,
                    "Do not search for the changes that would put another candidate first");
  command
      ->add_option(
          "--tune", options->tune,
          "Search the size of buckets for this many candidates, the first ones, before they "
          "are compared")
      ->check(CLI::Range(0, 1000));
  add_output_option(*command, options->advisor.runner);
  add_jobs_option(*command, options->advisor.runner);
  command
      ->add_option("--set", options->question.settings,
                   "Set /json/pointer=value in the candidates' experiments and in the cluster")
      ->allow_extra_args(false);
  command->add_flag("-f,--force", options->advisor.runner.force, "Repeat finished runs, too");
  command->add_flag("--json", options->as_json, "Print JSON");
  command->callback([options, &global, &action] {
    action = [options, &global] { return advise(*options, global.quiet); };
  });
}

}  // namespace trigram

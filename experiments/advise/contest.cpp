#include "experiments/advise/contest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "experiments/advise/advice.h"
#include "experiments/advise/coordinates.h"
#include "experiments/advise/long_run.h"
#include "experiments/advise/one_node.h"
#include "experiments/config/machine_match.h"
#include "experiments/run/lock_step.h"
#include "experiments/run/shortfall.h"
#include "experiments/text/labels.h"

namespace trigram {
namespace {

std::string in_one_line(const ConfigError& error) {
  std::vector<std::string> texts;
  for (const Mistake& mistake : error.mistakes()) texts.push_back(mistake.text());
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// True if a trigram such as "sync, low, centralised" contains a word.
bool has_word(const std::string& trigram, const std::string& word) {
  return (", " + trigram + ",").find(", " + word + ",") != std::string::npos;
}

void check_candidate_names(const std::vector<std::string>& names, const Plan& plan,
                           const std::vector<UnfitRun>& unfit) {
  std::set<std::string> known;
  for (const UnfitRun& run : unfit) known.insert(algorithm_in(run.coordinates));
  for (const PlannedRun& run : plan.runs) known.insert(run.experiment.algorithm_entry().name);
  for (const std::string& name : names)
    if (!known.contains(name))
      unknown_name("--algorithms", "candidate", name, {known.begin(), known.end()});
}

std::vector<std::string> names_out_of_lock_step(const std::vector<Candidate>& candidates) {
  std::vector<std::string> names;
  for (const Candidate& c : candidates)
    if (c.leaves_lock_step && (names.empty() || names.back() != c.name)) names.push_back(c.name);
  return names;
}

}  // namespace

Contest::Contest(const Question& question)
    : question_(question), config_(question.candidates_file()), settings_(question.all_settings()) {
  std::vector<UnfitRun> unfit;
  std::map<Json, Json> accepted;
  const Plan plan = plan_fit_runs(config_, settings_, unfit,
                                  [&](SweepPoint& point) { return accept(point, accepted); });
  if (!plan.runs.front().experiment.jobs.empty())
    throw ConfigError("/jobs", "advice is for a job that has the network to itself; remove them");
  check_relaxations(question.relaxations);
  check_candidate_names(question.algorithms, plan, unfit);
  const PlannedRun& first = plan.runs.front();
  cluster_ = first.resolved.at("cluster");
  if (first.experiment.cluster.ranks() == 1)
    throw ConfigError(
        "--cluster",
        "has one worker, which has no peer to communicate with; expected at least two workers");
  check_budget(target(), first.experiment.cluster);
  if (!first.experiment.world().simulated)
    throw ConfigError("/runtime", "advice is based on simulations; expected \"sim\"");
  if (target().level) trained_ = first.resolved.at("workload").at("name");
  times_ = first.workload->layer_times().value_or(LayerTimes{});
  warnings_ = name_flags(first.warnings);
  is_time_known_ = warnings_.empty();
  for (std::string& sentence : kept_change_warnings(first.experiment.cluster, question.kept()))
    warnings_.push_back(std::move(sentence));
  for (std::string& sentence : question.ignored_option_warnings())
    warnings_.push_back(std::move(sentence));
  for (std::string& sentence : randomness_warnings(first.experiment))
    warnings_.push_back(std::move(sentence));
  for (std::string& sentence : name_flags(first.assumed)) assumed_.push_back(std::move(sentence));
  if (const Json& trained = first.resolved.at("workload");
      target().level && trained.contains("batch"))
    assumed_.push_back(
        fmt::format("{} trains mini-batches of {} per worker in the time that {} takes for {}",
                    trained_, trained.at("batch").dump(), times_.profile,
                    trained.value(Json::json_pointer("/priced_with/batch"), times_.batch)));
  for (std::string& sentence : question.failure_assumptions())
    assumed_.push_back(std::move(sentence));
  for (const PlannedRun& run : plan.runs) add_candidate(run);
  leave_out_duplicates(plan);
  if (const auto names = names_out_of_lock_step(candidates_); !names.empty())
    warnings_.push_back(lock_step_note(names));
  for (const UnfitRun& run : unfit)
    if (is_asked_for(algorithm_in(run.coordinates)))
      left_out_.push_back(fmt::format("{}: {}", describe(run.coordinates), in_one_line(run.why)));
  report_unlisted(unfit);
  if (!candidates_.empty()) return;
  if (question.relaxations.empty())
    throw ConfigError("--algorithms", fmt::format("no candidate can run on the cluster; {}",
                                                  fmt::join(left_out_, "; ")));
  throw ConfigError("--only", "no candidate has all of these properties; expected fewer words");
}

/// Sentences of a plan name the option of the experiment that takes a measured step time. Replaces
/// it by the flag of `trigram advise`.
std::vector<std::string> Contest::name_flags(std::vector<std::string> sentences) const {
  for (std::string& sentence : sentences)
    for (const std::string& option : {step_time_pointer(), std::string("a measured step_time")})
      if (const auto at = sentence.find(option); at != std::string::npos)
        sentence.replace(at, option.size(), "--step-time");
  return sentences;
}

bool Contest::is_asked_for(const std::string& algorithm) const {
  const auto& names = question_.algorithms;
  return names.empty() || std::ranges::find(names, algorithm) != names.end();
}

/// Adapts a listed point, that is, a point of the candidates' experiment, to the cluster and to a
/// long run. Returns true if `hierarchical` was removed because the cluster has one node. `notes`
/// gets a sentence for each change of the network.
bool Contest::adapt(SweepPoint& point, std::vector<std::string>& notes) const {
  notes = use_long_run_network(point.config["cluster"], question_.kept());
  return is_single_node(point) && remove_hierarchy(point);
}

/// Adapts a listed point. Returns true if the point becomes a candidate. If the cluster has one
/// node, points that differ only in `hierarchical` become one candidate. `accepted` maps the
/// adapted coordinates of candidates to their listed coordinates.
bool Contest::accept(SweepPoint& point, std::map<Json, Json>& accepted) {
  const Json listed = point.coordinates;
  const bool asked = is_asked_for(algorithm_in(listed));
  std::vector<std::string> notes;
  const bool was_hierarchical = adapt(point, notes);
  listed_.push_back(listed);
  adapted_.push_back(point.coordinates);
  if (was_hierarchical && asked) notes.emplace_back(kHierarchyRemovedNote);
  for (std::string& sentence : notes)
    if (std::ranges::find(assumed_, sentence) == assumed_.end())
      assumed_.push_back(std::move(sentence));
  if (!is_single_node(point)) return true;
  const auto [same, is_new] = accepted.try_emplace(point.coordinates, listed);
  if (!is_new && asked)
    left_out_.push_back(fmt::format("{}: compared without hierarchical, as {}",
                                    describe(was_hierarchical ? listed : same->second),
                                    describe(point.coordinates)));
  return is_new;
}

void Contest::add_candidate(const PlannedRun& run) {
  check_coordinates(run.coordinates);
  const AlgorithmEntry& entry = run.experiment.algorithm_entry();
  if (!is_asked_for(entry.name)) return;
  const std::string trigram = to_string(entry.traits(run.experiment.algorithm).trigram);
  for (const std::string& word : question_.relaxations)
    if (!has_word(trigram, word)) return;
  const Json manifest = {{"sweep", run.coordinates}, {"experiment", run.resolved}};
  Candidate candidate{run.coordinates, algorithm_label(manifest), settings_label(run.coordinates),
                      trigram, run.experiment.steps};
  const auto row = std::ranges::find(adapted_, run.coordinates);
  candidate.row = static_cast<std::size_t>(row - adapted_.begin());
  candidate.algorithm = entry.name;
  candidate.exchanges_rarely = run.experiment.schedule().interval_steps > 1;
  if (target().level) {
    candidate.eval_every = advised_eval_every(run.experiment, question_.sets("/eval_every"));
    candidate.least_eval_every = run.experiment.schedule().interval_steps;
    candidate.grows = !question_.sets("/steps") && !run.experiment.synchronous();
  } else if (!question_.sets("/steps")) {
    Experiment unequal = run.experiment;
    unequal.cluster.bandwidth_jitter = std::max(unequal.cluster.bandwidth_jitter, kNicDifference);
    candidate.steps = long_run_steps(run.experiment);
    candidate.steps_with_unequal_nics = long_run_steps(unequal);
    candidate.leaves_lock_step = leaves_lock_step(run.experiment);
    candidate.grows = !rated_cycle(run.experiment).exact || candidate.leaves_lock_step;
  }
  candidates_.push_back(std::move(candidate));
}

/// Reports the algorithms that the program's own list of candidates lacks. The list has all
/// built-in algorithms, but no algorithms of other projects.
void Contest::report_unlisted(const std::vector<UnfitRun>& unfit) {
  if (!question_.candidates.empty() || !question_.algorithms.empty() ||
      !question_.relaxations.empty())
    return;
  std::set<std::string> listed;
  for (const Candidate& c : candidates_) listed.insert(algorithm_in(c.coordinates));
  for (const UnfitRun& run : unfit) listed.insert(algorithm_in(run.coordinates));
  for (const AlgorithmEntry& entry : algorithms())
    if (!listed.contains(entry.name))
      left_out_.push_back(
          fmt::format("{}: not in {}; give a list that contains it with --candidates", entry.name,
                      config_.string()));
}

std::string Contest::step_time_pointer() const {
  return adaptation_pointer(target().level ? Json{{"priced_as", ""}} : Json::object()) + kStepTime;
}

/// If every node has one worker there is no hierarchy, so candidates that differ only in options of
/// the hierarchy are the same.
void Contest::leave_out_duplicates(const Plan& plan) {
  std::map<std::string, std::string> first;
  for (const PlannedRun& run : plan.runs) {
    const auto candidate = std::ranges::find(candidates_, run.coordinates, &Candidate::coordinates);
    if (candidate == candidates_.end() || run.experiment.cluster.workers_per_node > 1) continue;
    Json key = run.resolved;
    for (const char* option : kMultiNodeOptions) key["algorithm"].erase(option);
    const auto [same, is_new] = first.try_emplace(key.dump(), candidate->full_name());
    if (is_new) continue;
    left_out_.push_back(fmt::format("{}: the same as {} if nodes have one worker",
                                    candidate->full_name(), same->second));
    candidates_.erase(candidate);
  }
}

/// Plans the runs of candidates that have the same number of steps and the same evaluation
/// interval.
void Contest::plan_group(const Json& scenario, long steps, long eval_every,
                         const std::vector<std::size_t>& candidates,
                         std::map<std::size_t, PlannedRun>& runs) const {
  std::vector<std::string> settings = settings_;
  settings.push_back(as_axis("/steps", steps));
  if (eval_every > 0) settings.push_back(as_axis("/eval_every", eval_every));
  for (const auto& [pointer, value] : scenario.items()) settings.push_back(as_axis(pointer, value));
  std::set<std::size_t> planned;
  const auto candidate_at = [&](const Json& coordinates) {
    return std::ranges::find(candidates, candidate_coordinates(coordinates),
                             [&](std::size_t c) { return candidates_[c].coordinates; });
  };
  std::vector<UnfitRun> unfit;
  Plan plan = plan_fit_runs(config_, settings, unfit, [&](SweepPoint& point) {
    std::vector<std::string> notes;
    adapt(point, notes);
    const auto candidate = candidate_at(point.coordinates);
    return candidate != candidates.end() && planned.insert(*candidate).second;
  });
  if (!unfit.empty())
    throw ConfigError("/sweep",
                      fmt::format("{} cannot run on the cluster at {}",
                                  describe(unfit.front().coordinates), describe(scenario)));
  for (PlannedRun& run : plan.runs) {
    const std::size_t candidate = *candidate_at(run.coordinates);
    runs.emplace(candidate, std::move(run));
  }
}

std::string Contest::ignored() const {
  if (!target().level) return "how much is learned in a step is ignored";
  return fmt::format(
      "{} may learn differently from your model; losses on text, for example, can order algorithms "
      "otherwise than accuracies on images (docs/convergence-text.md)",
      trained_);
}

Plan Contest::plan(const Json& scenario, const std::vector<std::size_t>& candidates,
                   const std::vector<long>& steps) const {
  std::map<std::pair<long, long>, std::vector<std::size_t>> groups;
  for (const std::size_t c : candidates) groups[{steps[c], candidates_[c].eval_every}].push_back(c);
  std::map<std::size_t, PlannedRun> runs;
  for (const auto& [key, group] : groups) plan_group(scenario, key.first, key.second, group, runs);
  Plan plan{question_.name(), {}};
  for (const std::size_t c : candidates) plan.runs.push_back(std::move(runs.at(c)));
  return plan;
}

}  // namespace trigram

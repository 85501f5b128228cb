#include "experiments/advise/bucket_search.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "algorithms/registry.h"
#include "experiments/process/signals.h"
#include "experiments/tune/tuner.h"

namespace trigram {
namespace {

constexpr const char *kAlgorithm = "/algorithm", *kBucket = "bucket";

/// A row of the candidates' sweep with another size of buckets.
Json with_bucket(Json row, const Json& size) {
  const auto algorithm = row.find(kAlgorithm);
  if (algorithm == row.end()) {
    row[child(kAlgorithm, kBucket)] = size;
    return row;
  }
  if (algorithm->is_string()) *algorithm = {{"name", *algorithm}};
  (*algorithm)[kBucket] = size;
  return row;
}

bool has_buckets(const std::string& algorithm) {
  const auto entry = std::ranges::find(algorithms(), algorithm, &AlgorithmEntry::name);
  return entry != algorithms().end() && entry->schema().at("properties").contains(kBucket);
}

/// The cost of a candidate that is given by its row; empty if it has none.
std::optional<double> cost_of(Question question, const Json& row, const Advisor::Options& options) {
  question.rows = {row};
  question.algorithms.clear();  // the candidate is one of those that were asked for
  question.relaxations.clear();
  try {
    const Contest contest(question);
    const double cost_s = Advisor(contest, options).rank(true).front().cost.time_s;
    return std::isfinite(cost_s) ? std::optional(cost_s) : std::nullopt;
  } catch (const ConfigError&) {
    return std::nullopt;  // the candidate cannot run with this size
  }
}

/// The best size and its cost; empty if no size has a cost.
std::optional<std::pair<Json, double>> best_bucket(const Question& question, const Json& row,
                                                   const Advisor::Options& options) {
  const Json space = {{child("", kBucket), {{"powers_of_two", {kSmallestBucket, kLargestBucket}}}}};
  Tuner tuner(search_space().parse(space, ""), {});
  const auto size_at = [&tuner](const Position& position) {
    return tuner.space().point_at(position).front();
  };
  for (std::size_t i = 0; i < kBucketEvaluations; ++i)
    for (const Position& position : tuner.ask(1))
      tuner.tell(position, cost_of(question, with_bucket(row, size_at(position)), options));
  const auto best = tuner.best();
  if (!best) return std::nullopt;
  const EvaluatedPoint& found = tuner.evaluations()[*best];
  return std::pair(size_at(found.position), *found.value);
}

}  // namespace

std::vector<TunedBucket> tune_buckets(Question& question, const Advisor::Options& options,
                                      std::size_t candidates) {
  // A signal between two trials stays pending until the next one, which handles it.
  Signals signals;
  const Contest contest(question);
  std::vector<Json> rows = contest.listed_rows();
  std::vector<TunedBucket> tuned;
  for (const Standing& standing : Advisor(contest, options).rank(false)) {
    if (tuned.size() == candidates) break;
    const Candidate& candidate = contest.candidates()[standing.candidate];
    if (!standing.reaches_target() || !has_buckets(candidate.algorithm)) continue;
    Json& row = rows[candidate.row];
    TunedBucket& found = tuned.emplace_back(TunedBucket{candidate.full_name(), nullptr, 0});
    const auto best = best_bucket(question, row, options);
    if (!best || best->second >= standing.cost.time_s) continue;
    found.bucket = best->first;
    found.saved = 1 - best->second / standing.cost.time_s;
    row = with_bucket(row, found.bucket);
  }
  question.rows = std::move(rows);
  return tuned;
}

}  // namespace trigram

#include "experiments/run/bucket_tuner.h"

#include <algorithm>
#include <set>

#include "core/check.h"

namespace trigram {
namespace {

constexpr const char* kBucket = "bucket";

SearchSpace sizes_to_try(const AutotuneOptions& options, std::size_t configured,
                         std::size_t model_bytes) {
  std::set<std::size_t> sizes{configured};
  std::size_t size = 1;
  while (size < options.smallest) size *= 2;
  for (bool whole_model = false; size <= options.largest && !whole_model; size *= 2) {
    sizes.insert(size);
    whole_model = size >= model_bytes;
  }
  SearchDimension dimension;
  dimension.pointer = kBucket;
  dimension.kind = SearchDimension::Kind::ordered;
  for (const std::size_t each : sizes) dimension.values.push_back(each);
  return {.dimensions = {std::move(dimension)}, .definition = {}};
}

}  // namespace

BucketTuner::BucketTuner(const AutotuneOptions& options, std::size_t configured,
                         std::size_t model_bytes, std::uint64_t seed)
    : options_(options),
      tuner_(sizes_to_try(options, configured, model_bytes),
             {.evaluations = static_cast<std::size_t>(options.evaluations), .seed = seed}),
      current_{static_cast<std::int64_t>(configured), 0, options.every} {}

void BucketTuner::step_ended(double end_s) {
  if (steps_ == 0) first_step_end_s_ = end_s;
  if (steps_ == current_.first) second_began_s_ = end_s;
  end_s_ = end_s;
  if (chosen_ && changed_size() && !paid_off_step_ && ahead_s() >= 0) paid_off_step_ = steps_;
  ++steps_;
}

/// The mean time of the steps of the current interval, without the first.
double BucketTuner::mean_s() const {
  return (end_s_ - second_began_s_) / static_cast<double>(steps_ - current_.first - 1);
}

/// The time by which the run would have ended its latest step later if it had kept the configured
/// buckets. Its first step, in which caches are cold, would have been the same.
double BucketTuner::ahead_s() const {
  return static_cast<double>(steps_) * trials_.front().step_s - (end_s_ - first_step_end_s_);
}

BucketTuner::Interval BucketTuner::next() {
  TRIGRAM_CHECK(steps_ == current_.end, "{} of {} steps have ended", steps_, current_.end);
  trials_.push_back({current_, mean_s(), began_s_, end_s_});
  began_s_ = end_s_;
  const auto position = [this](std::int64_t bytes) {
    return tuner_.space().position_of({{kBucket, bytes}}, "");
  };
  tuner_.tell(position(current_.bytes), trials_.back().step_s);
  std::vector<Position> proposal;
  if (std::ssize(trials_) < options_.evaluations) proposal = tuner_.ask(1);
  chosen_ = proposal.empty();
  const Position size = chosen_ ? tuner_.evaluations()[*tuner_.best()].position : proposal.front();
  current_ = {tuner_.space().point_at(size).at(kBucket).get<std::int64_t>(), steps_,
              chosen_ ? kUntilTheEnd : steps_ + options_.every};
  return current_;
}

Json BucketTuner::to_json() const {
  Json tried = Json::array();
  double slower_s = 0;
  for (const Trial& trial : trials_) {
    const std::int64_t steps = trial.interval.end - trial.interval.first;
    tried.push_back({{kBucket, trial.interval.bytes},
                     {"first_step", trial.interval.first},
                     {"steps", steps},
                     {"step_s", trial.step_s}});
    if (&trial == &trials_.front()) continue;
    slower_s += std::max(
        0.0, trial.ended_s - trial.began_s - static_cast<double>(steps) * trials_.front().step_s);
  }
  const bool measured = chosen_ && steps_ > current_.first + 1;
  return {{"tried", tried},
          {kBucket, chosen_ ? Json(current_.bytes) : Json()},
          {"from_step", chosen_ ? Json(current_.first) : Json()},
          {"step_s", measured ? Json(mean_s()) : Json()},
          {"slower_s", slower_s},
          {"paid_off_step", paid_off_step_ ? Json(*paid_off_step_) : Json()}};
}

}  // namespace trigram

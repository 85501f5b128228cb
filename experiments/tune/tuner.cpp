#include "experiments/tune/tuner.h"

#include <algorithm>
#include <limits>
#include <random>

#include "experiments/tune/acquisition.h"
#include "experiments/tune/halton.h"

namespace trigram {
namespace {

/// All points of a space of at most this size are compared; a larger one is searched by NLopt.
constexpr std::size_t kSmallSpace = 4096;
/// Draws of a point that was not tried, before the rest of a finite space is looked through.
constexpr int kDraws = 100;
constexpr std::size_t kInitial = 4, kInitialOfBagua = 20;
constexpr int kSearchPerDimension = 300;

}  // namespace

Tuner::Tuner(SearchSpace space, Options options)
    : space_(std::move(space)), options_(options), size_(space_.size()) {
  const std::size_t dimensions = space_.dimensions.size();
  if (options_.method == TuneMethod::grid) candidates_ = space_.grid(options_.evaluations);
  else if (size_ && *size_ <= kSmallSpace) candidates_ = space_.grid(*size_);
  if (options_.initial == 0)
    options_.initial = options_.method == TuneMethod::bagua ? kInitialOfBagua : kInitial;
  hyperparameters_ = {std::vector<double>(dimensions, 0.5), 1e-4};
  for (std::size_t i = 0; i < dimensions; ++i) shift_.push_back(options_.seed == 0 ? 0 : uniform());
}

double Tuner::uniform() {
  const std::uint64_t draw = draws_++;
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  std::seed_seq seeds{low(options_.seed), low(options_.seed >> 32), low(draw), low(draw >> 32)};
  std::mt19937_64 engine(seeds);
  return static_cast<double>(engine() >> 11) * 0x1p-53;
}

std::vector<Position> Tuner::ask(std::size_t count) {
  std::vector<Position> proposals;
  while (proposals.size() < count) {
    std::optional<Position> next = propose();
    if (!next) break;
    ++asked_;
    known_.insert(*next);
    pending_.push_back(*next);
    if (model_) model_->believe(*next);
    proposals.push_back(std::move(*next));
  }
  return proposals;
}

void Tuner::tell(const Position& position, std::optional<double> value) {
  known_.insert(position);
  if (const auto found = std::ranges::find(pending_, position); found != pending_.end())
    pending_.erase(found);
  evaluations_.push_back({position, value});
  model_.reset();
}

std::optional<std::size_t> Tuner::best() const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < evaluations_.size(); ++i)
    if (evaluations_[i].value && (!best || *evaluations_[i].value < *evaluations_[*best].value))
      best = i;
  return best;
}

bool Tuner::is_exhausted() const { return size_ && known_.size() >= *size_; }

bool Tuner::may_model() const {
  return asked_ >= options_.initial &&
         std::ranges::count_if(evaluations_,
                               [](const EvaluatedPoint& e) { return e.value.has_value(); }) >= 2;
}

std::optional<Position> Tuner::propose() {
  switch (options_.method) {
    case TuneMethod::grid: return next_of_grid();
    case TuneMethod::random: return random_point();
    case TuneMethod::bagua: return may_model() ? promising() : start_point();
    case TuneMethod::bayesian: break;
  }
  if (is_exhausted()) return std::nullopt;
  return may_model() ? promising() : start_point();
}

std::optional<Position> Tuner::next_of_grid() {
  while (next_ < candidates_.size() && known_.contains(candidates_[next_])) ++next_;
  if (next_ == candidates_.size()) return std::nullopt;
  return candidates_[next_];
}

/// Draws until the point is new. If that takes too long, takes the first new point of a small
/// space, or any point of a larger one.
std::optional<Position> Tuner::fresh(const std::function<Position()>& draw) {
  if (is_exhausted()) return std::nullopt;
  Position position;
  for (int i = 0; i < kDraws; ++i)
    if (position = space_.snapped(draw()); !known_.contains(position)) return position;
  for (const Position& candidate : candidates_)
    if (!known_.contains(candidate)) return candidate;
  return position;
}

std::optional<Position> Tuner::start_point() {
  const auto draw = [this] { return halton_point(++halton_, shift_); };
  return options_.method == TuneMethod::bagua ? space_.snapped(draw()) : fresh(draw);
}

std::optional<Position> Tuner::random_point() {
  return fresh([this] {
    Position position;
    for (std::size_t i = 0; i < space_.dimensions.size(); ++i) position.push_back(uniform());
    return position;
  });
}

Surrogate Tuner::surrogate() const {
  const bool bagua = options_.method == TuneMethod::bagua;
  return {space_, evaluations_, bagua ? ValueScale::reciprocal : ValueScale::logarithm,
          hyperparameters_};
}

/// The position with the largest value of `function`, among those that were not tried unless
/// `repeats` is true.
std::optional<Position> Tuner::maximum(const CubeFunction& function, bool repeats) {
  if (candidates_.empty()) {
    const Position found = space_.snapped(search_cube(
        [&](const Position& p) { return function(space_.snapped(p)); }, space_.dimensions.size(),
        kSearchPerDimension * static_cast<int>(space_.dimensions.size())));
    return repeats || !known_.contains(found) ? found : random_point();
  }
  const Position* best = nullptr;
  double largest = 0;
  for (const Position& candidate : candidates_) {
    if (!repeats && known_.contains(candidate)) continue;
    const double value = function(candidate);
    if (best && !(value > largest)) continue;
    best = &candidate;
    largest = value;
  }
  return best ? std::optional(*best) : std::nullopt;
}

std::optional<Position> Tuner::promising() {
  const bool bagua = options_.method == TuneMethod::bagua;
  if (!model_) {
    model_ = surrogate();
    hyperparameters_ = model_->process().hyperparameters();
    if (bagua) choice_.credit(model_->process());
    for (const Position& position : pending_) model_->believe(position);
  }
  const GaussianProcess& process = model_->process();
  const double best = model_->best();
  if (!bagua)
    return maximum(
        [&](const Position& p) {
          // NLopt needs finite values.
          return std::max(log_expected_improvement(process.predict(p), best),
                          std::numeric_limits<double>::lowest());
        },
        false);
  AcquisitionChoice::Proposals proposals;
  for (std::size_t i = 0; i < proposals.size(); ++i)
    proposals[i] = *maximum(
        [&](const Position& p) { return AcquisitionChoice::value(i, process.predict(p), best); },
        true);
  return choice_.choose(std::move(proposals), uniform());
}

std::optional<std::pair<double, double>> Tuner::interval(const Position& position) const {
  if (std::ranges::count_if(evaluations_,
                            [](const EvaluatedPoint& e) { return e.value.has_value(); }) < 3)
    return std::nullopt;
  return surrogate().interval(position);
}

}  // namespace trigram

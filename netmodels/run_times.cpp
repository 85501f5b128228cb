#include "netmodels/run_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/math/elementary.h"
#include "core/random/philox.h"

namespace trigram {
namespace {

using Shape = RunTimes::Shape;

/// A lognormal variable with this mean and standard deviation.
double lognormal(double mean, double deviation, Philox& random) {
  const double variance = log_portable(1 + deviation * deviation / (mean * mean));
  const double z = random.normal();
  return mean * static_cast<double>(
                    exp_portable(static_cast<float>(std::sqrt(variance) * z - variance / 2)));
}

double bounded(double smallest, double largest, double mean, double deviation, Philox& random) {
  return std::min(largest, smallest + lognormal(mean - smallest, deviation, random));
}

/// The quantile at `share`, by linear interpolation between the two points around it.
double interpolate(const std::vector<Quantile>& quantiles, double share) {
  const auto above = std::find_if(quantiles.begin() + 1, quantiles.end() - 1,
                                  [&](const Quantile& q) { return q.share > share; });
  const Quantile &a = *(above - 1), &b = *above;
  return a.seconds + (b.seconds - a.seconds) * (share - a.share) / (b.share - a.share);
}

double mean_of(const std::vector<Quantile>& quantiles) {
  double mean = 0;
  for (std::size_t i = 1; i < quantiles.size(); ++i)
    mean += (quantiles[i].share - quantiles[i - 1].share) *
            (quantiles[i].seconds + quantiles[i - 1].seconds) / 2;
  return mean;
}

const RunTimes& resolved(const RunTimes& times) {
  if (times.kind != Shape::published) return times;
  return std::ranges::find(published_run_times(), times.name, &PublishedRunTimes::name)->times;
}

FieldTable<Quantile> quantile_fields() {
  return FieldTable<Quantile>{}
      .required("share", &Quantile::share, number(0, 1),
                "share of the steps that take less than `time`")
      .required("time", &Quantile::seconds, quantity(Dimension::duration),
                "time that this share of the steps stays below");
}

/// Throws ConfigError unless smallest < mean < largest and the deviation is positive.
void check_bounds(double smallest, double mean, double largest, double deviation,
                  const std::string& mean_pointer) {
  if (!(smallest < mean && mean < largest))
    throw ConfigError(mean_pointer, fmt::format("expected a mean between the bounds {} and {}, not "
                                                "{}",
                                                smallest, largest, mean));
  if (!(deviation > 0))
    throw ConfigError(mean_pointer, "expected a deviation above 0 beside this mean");
}

}  // namespace

FieldTable<RunTimes> run_times_fields() {
  std::vector<std::pair<std::string, std::string>> names;
  for (const PublishedRunTimes& published : published_run_times())
    names.emplace_back(published.name, published.name);
  const OptionType<double> duration = quantity(Dimension::duration), length = number(0, 1e9);
  FieldTable<RunTimes> table;
  table
      .required("kind", &RunTimes::kind,
                one_of<Shape>({{"constant", Shape::constant},
                               {"lognormal", Shape::lognormal},
                               {"bounded", Shape::bounded},
                               {"quantiles", Shape::quantiles},
                               {"sequences", Shape::sequences},
                               {"published", Shape::published}}),
                "shape of the distribution")
      .field("seed", &RunTimes::seed, integer(0), "seed of the draws")
      .only_where([](const RunTimes& times) { return times.kind != Shape::constant; },
                  "has no effect here, because constant times are not drawn; remove it");
  const auto add = [&table](Shape kind, const char* kind_name, const char* name, auto member,
                            auto type, const char* doc) {
    table.field(name, member, std::move(type), doc)
        .only_where([kind](const RunTimes& times) { return times.kind == kind; },
                    fmt::format("is an option of the kind {}", kind_name));
  };
  add(Shape::lognormal, "lognormal", "variation", &RunTimes::variation, number(0, 10),
      "standard deviation over mean (lognormal)");
  const auto add_bounded = std::bind_front(add, Shape::bounded, "bounded");
  add_bounded("smallest", &RunTimes::smallest_s, duration, "shortest time of a step (bounded)");
  add_bounded("largest", &RunTimes::largest_s, duration, "longest time of a step (bounded)");
  add_bounded("mean", &RunTimes::mean_s, duration, "mean time of a step (bounded)");
  add_bounded("deviation", &RunTimes::deviation_s, duration,
              "standard deviation of the time of a step (bounded)");
  add(Shape::quantiles, "quantiles", "quantiles", &RunTimes::quantiles,
      list_of(nested(quantile_fields())),
      "points of the distribution from share 0 to share 1, linear in between; no step takes a time "
      "between those of two points with the same share");
  const auto add_sequences = std::bind_front(add, Shape::sequences, "sequences");
  add_sequences("shortest_length", &RunTimes::shortest, length, "shortest sequence, in tokens");
  add_sequences("longest_length", &RunTimes::longest, length, "longest sequence, in tokens");
  add_sequences("mean_length", &RunTimes::mean, length, "mean length of a sequence");
  add_sequences("length_deviation", &RunTimes::deviation, length,
                "standard deviation of the length of a sequence");
  add_sequences("sequences", &RunTimes::batch, integer(1, 65536),
                "sequences in a worker's batch; the longest one determines the time");
  add_sequences("fixed_share", &RunTimes::fixed_share, number(0, 1),
                "share of the mean time that does not depend on the lengths");
  add(Shape::published, "published", "name", &RunTimes::name, one_of<std::string>(std::move(names)),
      "name of a measured distribution");
  using Order = LoaderOptions::Order;
  table
      .field("order", &RunTimes::order,
             dumped_if(one_of<Order>({{"random", Order::random}, {"balanced", Order::balanced}}),
                       [](Order order) { return order != Order::random; }),
             "random: workers draw independently; balanced: the draws of an epoch are sorted, so "
             "that in every step all workers have neighbours in the sorted list")
      .only_where([](const RunTimes& times) { return times.kind != Shape::constant; },
                  "has no effect here, because constant times are not drawn; remove it");
  const auto balanced = [](const RunTimes& times) { return times.order == Order::balanced; };
  const std::string sorts = "only the order balanced sorts draws";
  table
      .field("random_level", &RunTimes::random_level, number(0, 1),
             "range of the random numbers that are added to times before they are sorted, relative "
             "to the range of times")
      .only_where(balanced, sorts)
      .field("epoch_steps", &RunTimes::epoch_steps, count(1, 1 << 16),
             "steps whose draws are sorted; later epochs repeat them")
      .only_where(balanced, sorts);
  return table;
}

RunTimes parse_run_times(const Json& j, const std::string& pointer) {
  static const FieldTable<RunTimes> fields = run_times_fields();  // costly, so built once
  const RunTimes times = fields.parse(j, pointer);
  switch (times.kind) {
    case Shape::constant: break;
    case Shape::lognormal:
      if (!j.contains("variation"))
        throw ConfigError(
            child(pointer, "variation"),
            "missing; the standard deviation over the mean, without which all times are equal",
            Mistake::Kind::missing);
      break;
    case Shape::bounded:
      check_bounds(times.smallest_s, times.mean_s, times.largest_s, times.deviation_s,
                   child(pointer, "mean"));
      break;
    case Shape::sequences:
      check_bounds(times.shortest, times.mean, times.longest, times.deviation,
                   child(pointer, "mean_length"));
      break;
    case Shape::quantiles: {
      const auto& q = times.quantiles;
      const std::string at = child(pointer, "quantiles");
      if (q.size() < 2 || q.front().share != 0 || q.back().share != 1)
        throw ConfigError(at, "expected points from share 0 to share 1");
      for (std::size_t i = 1; i < q.size(); ++i)
        if (q[i].share < q[i - 1].share || q[i].seconds < q[i - 1].seconds)
          throw ConfigError(child(at, std::to_string(i)),
                            "expected no smaller share and no smaller time than before");
      if (mean_of(q) == 0) throw ConfigError(at, "expected a mean above 0");
      break;
    }
    case Shape::published:
      if (times.name.empty())
        throw ConfigError(child(pointer, "name"), "missing; name of a measured distribution");
  }
  return times;
}

RunTimeDraws::RunTimeDraws(const RunTimes& times) : times_(resolved(times)) {
  times_.seed = times.seed;
  switch (times_.kind) {
    case Shape::constant:
    case Shape::lognormal:
    case Shape::published: return;
    case Shape::quantiles: mean_ = mean_of(times_.quantiles); return;
    case Shape::bounded:
    case Shape::sequences: break;
  }
  // The mean of times that are cut off has no closed form, nor has the mean of the longest sequence
  // of a batch. They are therefore estimated from draws that no run uses.
  constexpr int kDraws = 1 << 14;
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) sum += draw(Philox(0, i, 0, Purpose::run_time_mean));
  mean_ = sum / kDraws;
}

double RunTimeDraws::draw(Philox random) const {
  switch (times_.kind) {
    case Shape::constant:
    case Shape::published: return 1;
    case Shape::lognormal: return lognormal(1, times_.variation, random);
    case Shape::bounded:
      return bounded(times_.smallest_s, times_.largest_s, times_.mean_s, times_.deviation_s,
                     random);
    case Shape::quantiles: return interpolate(times_.quantiles, random.uniform());
    case Shape::sequences: {
      double longest = 0;
      for (std::int64_t i = 0; i < times_.batch; ++i)
        longest = std::max(longest, bounded(times_.shortest, times_.longest, times_.mean,
                                            times_.deviation, random));
      return longest;
    }
  }
  return 1;
}

double RunTimeDraws::factor(int rank, long step) const {
  if (times_.kind == Shape::constant) return 1;
  const double drawn =
      draw(Philox(static_cast<std::uint64_t>(times_.seed), rank, step, Purpose::run_time)) / mean_;
  if (times_.kind != Shape::sequences) return drawn;
  return times_.fixed_share + (1 - times_.fixed_share) * drawn;
}

namespace {

RunTimes bounded_ms(double smallest, double largest, double mean, double deviation) {
  RunTimes times;
  times.kind = RunTimes::Shape::bounded;
  times.smallest_s = smallest / 1e3;
  times.largest_s = largest / 1e3;
  times.mean_s = mean / 1e3;
  times.deviation_s = deviation / 1e3;
  return times;
}

RunTimes quantiles(std::vector<Quantile> points) {
  RunTimes times;
  times.kind = RunTimes::Shape::quantiles;
  times.quantiles = std::move(points);
  return times;
}

}  // namespace

const std::vector<PublishedRunTimes>& published_run_times() {
  static const std::vector<PublishedRunTimes> all = {
      {"ucf101_lstm",
       "LSTM on UCF101, batch 16, P100: range, mean and deviation of Li et al., \"Taming "
       "unbalanced training workloads in deep learning with partial collective operations\" "
       "(PPoPP'20, arXiv 1908.04207); the shape is assumed",
       bounded_ms(201, 3410, 1235, 706)},
      {"wmt16_transformer",
       "Transformer on WMT16, batch 64, P100: range, mean and deviation of Li et al. (arXiv "
       "1908.04207); the shape is assumed",
       bounded_ms(179, 3482, 475, 144)},
      {"resnet50_cloud",
       "ResNet-50 on ImageNet, batch 256, two V100 of a cloud: range, mean and deviation of Li et "
       "al. (arXiv 1908.04207); the shape is assumed",
       bounded_ms(399, 1892, 454, 116)},
      {"wmt17_transformer",
       "Transformer on WMT17, 8,192 tokens, P100: quartiles and range read off a figure of Li et "
       "al., WAGMA-SGD (arXiv 2005.00124); linear in between",
       quantiles({{0, 0.05}, {0.25, 0.19}, {0.5, 0.26}, {0.75, 0.365}, {1, 0.72}})},
      {"habitat_ddppo",
       "DD-PPO on Habitat, collecting 256 experience steps, P100: range and quartiles read off a "
       "figure of WAGMA-SGD (arXiv 2005.00124), as are the clusters beyond the whisker, 4.3 to 5 s "
       "and 9.5 to 14 s, and the single points up to 43.5 s of 5,000; that 1.5 % and 0.48 % are in "
       "the clusters is assumed",
       quantiles({{0, 1.7},
                  {0.25, 1.78},
                  {0.75, 1.87},
                  {0.98, 2.0},
                  {0.98, 4.3},
                  {0.995, 5},
                  {0.995, 9.5},
                  {0.9998, 14},
                  {1, 43.5}})}};
  return all;
}

}  // namespace trigram

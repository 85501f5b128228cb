#include "core/workloads/profile_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/config/option_type.h"
#include "core/workloads/accelerator_scaling.h"

namespace trigram {
namespace {

FieldTable<TensorRange> range_fields() {
  return FieldTable<TensorRange>{}
      .required("first", &TensorRange::first, integer(0),
                "the first tensor, counted from 0 in the order in which the backward pass "
                "completes gradients")
      .required("last", &TensorRange::last, integer(0), "the last tensor");
}

OptionType<TensorGroup> group_kind() {
  const OptionType<std::vector<std::string>> names = list_of(text());
  const OptionType<TensorRange> range = nested(range_fields());
  return {[names, range](const Json& j, const std::string& pointer) -> TensorGroup {
            if (j.is_array()) return names.parse(j, pointer);
            if (j.is_object()) return range.parse(j, pointer);
            wrong_type(pointer, R"(a list of tensors' names or {"first", "last"})", j);
          },
          [names, range](const TensorGroup& group) {
            const auto* listed = std::get_if<std::vector<std::string>>(&group);
            return listed ? names.dump(*listed) : range.dump(std::get<TensorRange>(group));
          },
          [names, range]() -> Json {
            return {{"anyOf", Json::array({names.schema(), range.schema()})}};
          }};
}

FieldTable<AcceleratorRates> rates_fields() {
  return FieldTable<AcceleratorRates>{}
      .required("name", &AcceleratorRates::name, text(), "name of the accelerator")
      .required("flops", &AcceleratorRates::flops_per_s, quantity(Dimension::flop_rate, true),
                "its peak rate of arithmetic at the precision of training")
      .required("memory_bandwidth", &AcceleratorRates::memory_Bps,
                quantity(Dimension::bandwidth, true), "its peak memory bandwidth");
}

OptionType<TargetAccelerator> target_accelerator_kind() {
  const OptionType<AcceleratorRates> rates = nested(rates_fields());
  static constexpr const char* kCluster = "cluster";
  return {[rates](const Json& j, const std::string& pointer) -> TargetAccelerator {
            if (j == kCluster) return {{}, true};
            if (j.is_object()) return {rates.parse(j, pointer), false};
            wrong_type(pointer, R"("cluster" or {"name", "flops", "memory_bandwidth"})", j);
          },
          [rates](const TargetAccelerator& target) -> Json {
            return target.of_cluster ? Json(kCluster) : rates.dump(target.rates);
          },
          [rates]() -> Json {
            return {{"anyOf", Json::array({{{"const", kCluster}}, rates.schema()})}};
          }};
}

void scale_times(Profile& profile, double factor) {
  for (ProfileTensor& row : profile.tensors) {
    row.forward_s *= factor;
    row.backward_s *= factor;
  }
}

/// Sets the batch. The FLOPs of layers are proportional to the number of samples.
void set_batch(Profile& profile, std::size_t batch) {
  const double factor = static_cast<double>(batch) / static_cast<double>(profile.batch);
  for (ProfileTensor& row : profile.tensors)
    for (std::optional<std::int64_t>* flops : {&row.forward_flops, &row.backward_flops})
      if (*flops) *flops = std::llround(static_cast<double>(**flops) * factor);
  profile.batch = batch;
}

bool scales(const Profile& profile, const ProfileOptions& options) {
  return options.accelerator && !options.accelerator->of_cluster &&
         can_scale(profile, options.accelerator->rates);
}

/// Applies the batch first, because it scales both the times and the FLOPs of layers.
ScaledTimes adaptation(Profile profile, const ProfileOptions& options) {
  const std::size_t measured = profile.batch, batch = options.batch.value_or(measured);
  set_batch(profile, batch);
  const bool proportional = batch != measured;
  if (proportional)
    scale_times(profile, static_cast<double>(batch) / static_cast<double>(measured));
  if (proportional && !options.step_s)
    profile.assumed.push_back(fmt::format(
        "layers take {} / {} of the profile's times for a batch of {}, in proportion to the number "
        "of samples; give a measured step_time beside batch to say otherwise",
        batch, measured, batch));
  ScaledTimes now{profile, 0, 0};
  const auto seconds = [&now] { return now.profile.forward_s() + now.profile.backward_s(); };
  const bool scaled = scales(profile, options);
  if (scaled) now = scaled_to(profile, options.accelerator->rates);
  if (options.step_s) scale_times(now.profile, *options.step_s / seconds());
  else if (scaled)
    now.profile.assumed.push_back(assumption(now, profile, options.accelerator->rates));
  if (options.step_s || !scaled) now.least_s = now.most_s = seconds();
  return now;
}

/// Assigns tensors to groups, in the order in which backward completes their gradients.
class Grouping {
 public:
  explicit Grouping(const Profile& profile) {
    for (const std::string_view name : profile.backward_names()) names_.emplace_back(name);
  }

  std::size_t take(const TensorGroup& group, const std::string& pointer) {
    const std::size_t before = next_;
    if (const auto* names = std::get_if<std::vector<std::string>>(&group)) {
      if (names->empty()) throw ConfigError(pointer, "expected at least one tensor");
      for (std::size_t i = 0; i < names->size(); ++i)
        take((*names)[i], child(pointer, std::to_string(i)));
    } else {
      take(std::get<TensorRange>(group), pointer);
    }
    return next_ - before;
  }

  void end(const std::string& pointer) const {
    if (next_ < names_.size())
      throw ConfigError(pointer,
                        fmt::format("expected every tensor in a bucket; {} of {} are in "
                                    "none, from \"{}\" (number {}) on",
                                    names_.size() - next_, names_.size(), names_[next_], next_));
  }

 private:
  void take(const std::string& name, const std::string& pointer) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end())
      throw ConfigError(pointer, fmt::format("unknown tensor \"{}\"; {}{}", name, expected(),
                                             did_you_mean(name, names_)));
    if (next_ < names_.size() && names_[next_] == name) {
      ++next_;
      return;
    }
    if (found - names_.begin() < static_cast<std::ptrdiff_t>(next_))
      throw ConfigError(pointer,
                        fmt::format("\"{}\" is in a bucket already; {}", name, expected()));
    throw ConfigError(
        pointer,
        fmt::format("\"{}\" is not in the order in which the backward pass completes gradients; {}",
                    name, expected()));
  }

  void take(const TensorRange& range, const std::string& pointer) {
    if (static_cast<std::size_t>(range.first) != next_)
      throw ConfigError(child(pointer, "first"),
                        fmt::format("{}, not {}", expected(), range.first));
    if (range.last < range.first || static_cast<std::size_t>(range.last) >= names_.size())
      throw ConfigError(child(pointer, "last"),
                        fmt::format("expected a tensor from {} to {}, not {}", range.first,
                                    names_.size() - 1, range.last));
    next_ = static_cast<std::size_t>(range.last) + 1;
  }

  std::string expected() const {
    if (next_ == names_.size()) return "expected no more buckets, as all tensors are in one";
    return fmt::format("expected \"{}\" (number {}) next", names_[next_], next_);
  }

  std::vector<std::string> names_;
  std::size_t next_ = 0;
};

}  // namespace

FieldTable<ProfileOptions> adaptation_fields() {
  return FieldTable<ProfileOptions>{}
      .field("step_time", &ProfileOptions::step_s, optional(quantity(Dimension::duration, true)),
             "measured time of a forward and a backward pass over the batch on one worker, without "
             "the optimizer's step and communication: scales all layers by one factor")
      .field("batch", &ProfileOptions::batch, optional(count(1)),
             "samples per worker and step; without step_time, layer times are assumed to scale in "
             "proportion")
      .field("accelerator", &ProfileOptions::accelerator, optional(target_accelerator_kind()),
             "accelerator to scale layer times to, if not the profile's own: \"cluster\", or an "
             "object with its rates; each layer's time is assumed to scale with its FLOPs and "
             "memory traffic");
}

FieldTable<ProfileOptions> profile_option_fields() {
  return adaptation_fields().field(
      "buckets", &ProfileOptions::buckets,
      dumped_if(list_of(group_kind()), [](const auto& all) { return !all.empty(); }),
      "buckets of tensors that are exchanged as one message, instead of the algorithm's bucket "
      "sizes: lists of names, or {\"first\", \"last\"}, in the order in which backward completes "
      "gradients");
}

Profile adapted(Profile profile, const ProfileOptions& options) {
  return adaptation(std::move(profile), options).profile;
}

LayerTimes layer_times(const Profile& profile, const ProfileOptions& options) {
  LayerTimes times{.profile = profile.name,
                   .batch = profile.batch,
                   .measured_on = profile.measured_on,
                   .times_for = profile.measured_on,
                   .has_flops = profile.has_flops()};
  times.measured_here = options.step_s.has_value();
  if (options.step_s) times.times_for = {};
  else if (scales(profile, options)) times.times_for = options.accelerator->rates;
  const ScaledTimes now = adaptation(profile, options);
  times.step_s = now.profile.forward_s() + now.profile.backward_s();
  times.least_s = now.least_s;
  times.most_s = now.most_s;
  return times;
}

std::vector<std::size_t> group_sizes(const Profile& profile, const std::vector<TensorGroup>& groups,
                                     const std::string& pointer) {
  if (groups.empty()) return {};
  Grouping grouping(profile);
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < groups.size(); ++i)
    sizes.push_back(grouping.take(groups[i], child(pointer, std::to_string(i))));
  grouping.end(pointer);
  return sizes;
}

}  // namespace trigram

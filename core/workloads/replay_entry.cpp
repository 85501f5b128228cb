#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "core/config/option_type.h"
#include "core/workloads/bucketing.h"
#include "core/workloads/profile.h"
#include "core/workloads/registry.h"
#include "core/workloads/replay_workload.h"

namespace trigram {
namespace {

struct ReplayOptions {
  std::string profile;
  std::optional<std::size_t> batch;
  std::optional<double> rate;
  std::size_t buffer = std::size_t{64} << 20;
  bool values = true;
};

FieldTable<ReplayOptions> replay_fields() {
  auto rate = optional(quantity(Dimension::flop_rate, true));
  return FieldTable<ReplayOptions>{}
      .required("profile", &ReplayOptions::profile, profile_reference(), "the profile to replay")
      .field("batch", &ReplayOptions::batch, optional(count(1, 1 << 20)),
             "samples per worker and step, instead of the profile's; work scales in proportion")
      .field("rate", &ReplayOptions::rate, std::move(rate),
             "for a profile without FLOPs: the rate at which its accelerator is assumed to have "
             "worked; a layer's FLOPs are its time at this rate")
      .field("buffer", &ReplayOptions::buffer, byte_size(),
             "size of each of the three buffers that all activations share")
      .field("values", &ReplayOptions::values, boolean(),
             "false: tensors have their sizes but no values, so only times are simulated");
}

/// The FLOPs that take `seconds` at `rate`, rounded to an even number.
std::int64_t flops_of(double seconds, double rate) { return 2 * std::llround(seconds * rate / 2); }

/// The profile to replay, with FLOPs, and scaled to `batch` samples.
Profile prepared(Profile profile, const ReplayOptions& options, const std::string& pointer) {
  if (!profile.has_flops() && !options.rate)
    throw ConfigError(child(pointer, "rate"),
                      fmt::format("missing: the profile \"{}\" does not give FLOPs; expected the "
                                  "rate of its accelerator, such as 10TFLOP/s",
                                  profile.name));
  if (profile.has_flops() && options.rate)
    throw ConfigError(
        child(pointer, "rate"),
        fmt::format("has no effect: the profile \"{}\" gives its FLOPs; remove it", profile.name));
  const std::size_t batch = options.batch.value_or(profile.batch);
  const double times = static_cast<double>(batch) / static_cast<double>(profile.batch);
  for (ProfileTensor& row : profile.tensors) {
    if (options.rate) {
      row.forward_flops = flops_of(row.forward_s, *options.rate);
      row.backward_flops = flops_of(row.backward_s, *options.rate);
    }
    row.forward_s *= times;
    row.backward_s *= times;
    row.forward_flops = flops_of(times, static_cast<double>(*row.forward_flops));
    row.backward_flops = flops_of(times, static_cast<double>(*row.backward_flops));
  }
  profile.batch = batch;
  return profile;
}

class ReplayFactory final : public WorkloadFactory {
 public:
  ReplayFactory(const ReplayOptions& options, const std::string& pointer)
      : options_(options),
        file_(profile_file(options.profile)),
        profile_(std::make_shared<Profile>(
            prepared(load_profile(file_, child(pointer, "profile")), options, pointer))) {}
  void check_ranks(int /*ranks*/) const override {}
  std::unique_ptr<Workload> make(const Context& ctx, std::uint64_t seed) const override {
    return std::make_unique<ReplayWorkload>(ctx, profile_, options_.buffer, options_.values, seed);
  }
  bool has_values() const override { return options_.values; }
  bool learns() const override { return false; }
  std::size_t buckets(const BucketSizes& sizes) const override {
    return count_buckets(profile_->backward_lengths(), sizes);
  }
  TensorDetail tensor_detail() const override { return TensorDetail::lengths; }
  std::vector<std::filesystem::path> input_files() const override { return {file_}; }

 private:
  ReplayOptions options_;
  std::filesystem::path file_;
  std::shared_ptr<const Profile> profile_;
};

}  // namespace

WorkloadEntry replay_entry() {
  return component<WorkloadFactory, const std::string&>(
      "replay",
      "a profile's layers as matrix products of the same FLOPs, with weights and gradients of the "
      "original sizes",
      replay_fields(), [](const ReplayOptions& options, const std::string& pointer) {
        return std::make_unique<ReplayFactory>(options, pointer);
      });
}

}  // namespace trigram

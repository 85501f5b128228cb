#include "core/workloads/pricing.h"

#include <numeric>

#include "core/config/option_type.h"
#include "core/device/host_device.h"
#include "core/workloads/model.h"
#include "core/workloads/profile.h"
#include "core/workloads/profile_workload.h"
#include "core/workloads/registry.h"

namespace trigram {
namespace {

ModelPlace place_of(const Context& ctx, std::uint64_t seed) {
  return {ctx.world_rank, ctx.world_size, seed};
}

class OwnSizeFactory final : public WorkloadFactory {
 public:
  OwnSizeFactory(std::unique_ptr<ModelFactory> models, bool values)
      : models_(std::move(models)), values_(values) {}
  void check_ranks(int ranks) const override { models_->check_ranks(ranks); }
  std::unique_ptr<Workload> make(const Context& ctx, std::uint64_t seed) const override {
    return std::make_unique<ModelWorkload>(ctx, models_->make(*ctx.device, place_of(ctx, seed)),
                                           values_);
  }
  bool has_values() const override { return values_; }
  std::size_t samples() const override { return models_->samples(); }
  std::vector<std::filesystem::path> input_files() const override { return models_->input_files(); }

 private:
  std::unique_ptr<ModelFactory> models_;
  bool values_;
};

/// A profile from a file, adapted by options.
struct AdaptedProfile {
  AdaptedProfile(const Profile& measured, const ProfileOptions& options)
      : times(layer_times(measured, options)),
        profile(std::make_shared<Profile>(adapted(measured, options))),
        assumed(profile->assumed.begin() + std::ssize(measured.assumed), profile->assumed.end()) {}
  LayerTimes times;
  std::shared_ptr<const Profile> profile;
  std::vector<std::string> assumed;  // assumptions that the options add; reports read the file's
                                     // own assumptions from the file
};

class PricedFactory final : public WorkloadFactory {
 public:
  PricedFactory(std::unique_ptr<ModelFactory> models, const Pricing& pricing,
                std::filesystem::path file, const std::string& pointer)
      : models_(std::move(models)),
        values_(pricing.values),
        file_(std::move(file)),
        as_(load_profile(file_, pointer), pricing.priced_with) {}

  void check_ranks(int ranks) const override { models_->check_ranks(ranks); }
  std::unique_ptr<Workload> make(const Context& ctx, std::uint64_t seed) const override {
    UntimedModel real;
    if (values_ && !ctx.stream->mark()) real.device = std::make_unique<HostDevice>();
    real.model = models_->make(real.device ? *real.device : *ctx.device, place_of(ctx, seed));
    const auto lengths = real.model->tensor_lengths();
    const std::size_t numel = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
    const std::size_t batch = real.model->batch();
    if (!values_) real.model.reset();
    return std::make_unique<ProfileWorkload>(ctx, as_.profile, numel, batch, std::move(real));
  }
  bool has_values() const override { return values_; }
  std::size_t samples() const override { return models_->samples(); }
  std::optional<std::size_t> priced_batch() const override { return as_.profile->batch; }
  std::vector<std::filesystem::path> input_files() const override {
    auto files = models_->input_files();
    files.push_back(file_);
    return files;
  }
  std::vector<std::string> assumed() const override { return as_.assumed; }
  std::optional<LayerTimes> layer_times() const override { return as_.times; }

 private:
  std::unique_ptr<ModelFactory> models_;
  bool values_;
  std::filesystem::path file_;
  AdaptedProfile as_;
};

class ProfileFactory final : public WorkloadFactory {
 public:
  ProfileFactory(std::filesystem::path file, const ProfileOptions& options,
                 const std::string& pointer)
      : file_(std::move(file)),
        adapted_(load_profile(file_, pointer), options),
        groups_(group_sizes(*adapted_.profile, options.buckets, child(pointer, "buckets"))) {}
  void check_ranks(int /*ranks*/) const override {}
  std::unique_ptr<Workload> make(const Context& ctx, std::uint64_t /*seed*/) const override {
    return std::make_unique<ProfileWorkload>(ctx, adapted_.profile, groups_);
  }
  bool has_values() const override { return false; }
  std::vector<std::filesystem::path> input_files() const override { return {file_}; }
  std::vector<std::string> assumed() const override { return adapted_.assumed; }
  std::optional<LayerTimes> layer_times() const override { return adapted_.times; }

 private:
  std::filesystem::path file_;
  AdaptedProfile adapted_;
  std::vector<std::size_t> groups_;
};

}  // namespace

FieldTable<Pricing> pricing_fields() {
  return FieldTable<Pricing>{}
      .field("priced_as", &Pricing::priced_as, optional(profile_reference()),
             "profile whose message sizes and compute times replace the model's own")
      .field("priced_with", &Pricing::priced_with,
             written_where(
                 nested(adaptation_fields()),
                 [](const ProfileOptions& o) { return o.step_s || o.batch || o.accelerator; }),
             "adapts the profile of priced_as: step_time, batch and accelerator, the same options "
             "that a profile has as a workload")
      .only_where([](const Pricing& pricing) { return pricing.priced_as.has_value(); },
                  "adapts the profile of priced_as; expected priced_as beside it")
      .field("values", &Pricing::values, boolean(),
             "false: tensors are phantoms of the same sizes, so only times are simulated");
}

std::unique_ptr<WorkloadFactory> make_model_workload_factory(std::unique_ptr<ModelFactory> models,
                                                             const Pricing& pricing,
                                                             const std::string& pointer) {
  if (!pricing.priced_as)
    return std::make_unique<OwnSizeFactory>(std::move(models), pricing.values);
  return std::make_unique<PricedFactory>(
      std::move(models), pricing, profile_file(*pricing.priced_as), child(pointer, "priced_as"));
}

std::unique_ptr<WorkloadFactory> make_profile_workload_factory(const std::filesystem::path& file,
                                                               const ProfileOptions& options,
                                                               const std::string& pointer) {
  return std::make_unique<ProfileFactory>(file, options, pointer);
}

namespace {

struct FileOptions {
  std::string path;
  ProfileOptions profile;
};

}  // namespace

WorkloadEntry built_in_profile_entry(const std::string& name, const std::string& doc) {
  return component<WorkloadFactory, const std::string&>(
      name, doc, profile_option_fields(),
      [name](const ProfileOptions& options, const std::string& pointer) {
        return make_profile_workload_factory(profile_file(name), options, pointer);
      });
}

WorkloadEntry profile_entry() {
  return component<WorkloadFactory, const std::string&>(
      "profile", "layer times and tensor sizes from a file of your own; also \"profile:PATH\"",
      FieldTable<FileOptions>{}
          .required("path", &FileOptions::path, text(),
                    "CSV or JSON: tensor, numel, forward_s, backward_s")
          .include(&FileOptions::profile, profile_option_fields()),
      [](const FileOptions& options, const std::string& pointer) {
        return make_profile_workload_factory(options.path, options.profile, pointer);
      });
}

}  // namespace trigram

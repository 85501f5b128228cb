#include "core/workloads/pricing.h"

#include <numeric>

#include "core/config/option_kinds.h"
#include "core/device/host_device.h"
#include "core/workloads/model_workload.h"
#include "core/workloads/profile_reference.h"
#include "core/workloads/profile_workload.h"

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

class PricedFactory final : public WorkloadFactory {
 public:
  PricedFactory(std::unique_ptr<ModelFactory> models, bool values, std::filesystem::path file,
                const std::string& pointer)
      : models_(std::move(models)),
        values_(values),
        file_(std::move(file)),
        profile_(std::make_shared<Profile>(load_profile(file_, pointer))) {}

  void check_ranks(int ranks) const override { models_->check_ranks(ranks); }
  std::unique_ptr<Workload> make(const Context& ctx, std::uint64_t seed) const override {
    UntimedModel real;
    real.device = std::make_unique<HostDevice>();
    real.model = models_->make(values_ ? *real.device : *ctx.device, place_of(ctx, seed));
    const auto lengths = real.model->tensor_lengths();
    const std::size_t numel = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
    const std::size_t batch = real.model->batch();
    if (!values_) real.model.reset();
    return std::make_unique<ProfileWorkload>(ctx, profile_, numel, batch, std::move(real));
  }
  bool has_values() const override { return values_; }
  std::size_t samples() const override { return models_->samples(); }
  std::vector<std::filesystem::path> input_files() const override {
    auto files = models_->input_files();
    files.push_back(file_);
    return files;
  }

 private:
  std::unique_ptr<ModelFactory> models_;
  bool values_;
  std::filesystem::path file_;
  std::shared_ptr<const Profile> profile_;
};

class ProfileFactory final : public WorkloadFactory {
 public:
  ProfileFactory(std::filesystem::path file, const ProfileOptions& options,
                 const std::string& pointer)
      : file_(std::move(file)) {
    Profile profile = load_profile(file_, pointer);
    own_assumptions_ = profile.assumed.size();
    groups_ = group_sizes(profile, options.buckets, child(pointer, "buckets"));
    profile_ = std::make_shared<Profile>(adapted(std::move(profile), options));
  }
  void check_ranks(int /*ranks*/) const override {}
  std::unique_ptr<Workload> make(const Context& ctx, std::uint64_t /*seed*/) const override {
    return std::make_unique<ProfileWorkload>(ctx, profile_, groups_);
  }
  bool has_values() const override { return false; }
  std::vector<std::filesystem::path> input_files() const override { return {file_}; }
  std::vector<std::string> assumed() const override {
    return {profile_->assumed.begin() + static_cast<std::ptrdiff_t>(own_assumptions_),
            profile_->assumed.end()};
  }

 private:
  std::filesystem::path file_;
  std::size_t own_assumptions_ = 0;  // those of the file, which reports read there
  std::vector<std::size_t> groups_;
  std::shared_ptr<const Profile> profile_;
};

}  // namespace

FieldTable<Pricing> pricing_fields() {
  return FieldTable<Pricing>{}
      .field("priced_as", &Pricing::priced_as, optional(profile_reference()),
             "profile whose message sizes and compute times stand for the model's own")
      .field("values", &Pricing::values, boolean(),
             "false: tensors are phantoms of the same sizes, so only times are simulated");
}

std::unique_ptr<WorkloadFactory> make_model_workload_factory(std::unique_ptr<ModelFactory> models,
                                                             const Pricing& pricing,
                                                             const std::string& pointer) {
  if (!pricing.priced_as)
    return std::make_unique<OwnSizeFactory>(std::move(models), pricing.values);
  return std::make_unique<PricedFactory>(std::move(models), pricing.values,
                                         profile_file(*pricing.priced_as),
                                         child(pointer, "priced_as"));
}

std::unique_ptr<WorkloadFactory> make_profile_workload_factory(const std::filesystem::path& file,
                                                               const ProfileOptions& options,
                                                               const std::string& pointer) {
  return std::make_unique<ProfileFactory>(file, options, pointer);
}

}  // namespace trigram

#include "core/workloads/pricing.h"

#include "core/config/option_type.h"
#include "core/device/host_device.h"
#include "core/workloads/bucketing.h"
#include "core/workloads/model.h"
#include "core/workloads/profile.h"
#include "core/workloads/profile_workload.h"
#include "core/workloads/registry.h"

namespace trigram {
namespace {

/// The workload of a real model, whose sizes and operations are its own.
class ModelWorkloadFactory : public WorkloadFactory {
 public:
  ModelWorkloadFactory(std::unique_ptr<ModelFactory> models, bool values)
      : models_(std::move(models)), values_(values) {}
  void check_ranks(int ranks) const override { models_->check_ranks(ranks); }
  std::unique_ptr<Workload> make(const Context& ctx, std::uint64_t seed) const override {
    return model_workload(ctx, make_model(*ctx.device, ctx, seed), values_);
  }
  bool has_values() const override { return values_; }
  std::size_t buckets(const BucketSizes& sizes) const override {
    HostDevice device;
    return count_buckets(models_->make(device, {})->tensor_lengths(), sizes);
  }
  TensorDetail tensor_detail() const override {
    return models_->has_shapes() ? TensorDetail::shapes : TensorDetail::lengths;
  }
  std::size_t samples() const override { return models_->samples(); }
  bool steps_differ() const override { return models_->steps_differ(); }
  bool has_accuracy() const override { return models_->has_accuracy(); }
  std::vector<std::filesystem::path> input_files() const override { return models_->input_files(); }

 protected:
  std::unique_ptr<Model> make_model(Device& device, const Context& ctx, std::uint64_t seed) const {
    return models_->make(device, {ctx.world_rank, ctx.world_size, seed});
  }
  std::function<double()> make_loads(const ModelPlace& place) const {
    return models_->make_loads(place);
  }

 private:
  std::unique_ptr<ModelFactory> models_;
  bool values_;
};

/// The profile in a file, adapted by options.
struct AdaptedProfile {
  AdaptedProfile(std::filesystem::path path, const ProfileOptions& options,
                 const std::string& pointer)
      : file(std::move(path)) {
    const Profile measured = load_profile(file, pointer);
    times = layer_times(measured, options);
    profile = std::make_shared<Profile>(adapted(measured, options));
    assumed = {profile->assumed.begin() + std::ssize(measured.assumed), profile->assumed.end()};
  }
  std::filesystem::path file;
  LayerTimes times;
  std::shared_ptr<const Profile> profile;
  std::vector<std::string> assumed;  // assumptions that the options add; reports read the file's
                                     // own assumptions from the file
};

/// The workload of a model that has the sizes and times of a profile.
class PricedFactory final : public ModelWorkloadFactory {
 public:
  PricedFactory(std::unique_ptr<ModelFactory> models, const Pricing& pricing,
                const std::string& pointer)
      : ModelWorkloadFactory(std::move(models), pricing.values),
        adapted_(profile_file(*pricing.priced_as), pricing.priced_with,
                 child(pointer, "priced_as")) {}

  std::unique_ptr<Workload> make(const Context& ctx, std::uint64_t seed) const override {
    UntimedModel real;
    if (has_values() && !ctx.stream->mark()) real.device = std::make_unique<HostDevice>();
    real.model = make_model(real.device ? *real.device : *ctx.device, ctx, seed);
    real.loads = make_loads({ctx.world_rank, ctx.world_size, seed});
    const std::size_t numel = real.model->numel(), batch = real.model->batch();
    if (!has_values()) real.model.reset();
    return priced_workload(ctx, adapted_.profile, numel, batch, std::move(real));
  }
  std::size_t buckets(const BucketSizes& sizes) const override {
    return count_buckets(adapted_.profile->backward_lengths(), sizes);
  }
  TensorDetail tensor_detail() const override { return TensorDetail::none; }
  bool steps_differ() const override { return make_loads({}) != nullptr; }
  std::optional<std::size_t> priced_batch() const override { return adapted_.profile->batch; }
  std::vector<std::filesystem::path> input_files() const override {
    auto files = ModelWorkloadFactory::input_files();
    files.push_back(adapted_.file);
    return files;
  }
  std::vector<std::string> assumed() const override { return adapted_.assumed; }
  std::optional<LayerTimes> layer_times() const override { return adapted_.times; }

 private:
  AdaptedProfile adapted_;
};

/// The workload of a profile alone, whose tensors have no values.
class ProfileFactory final : public WorkloadFactory {
 public:
  ProfileFactory(std::filesystem::path file, const ProfileOptions& options,
                 const std::string& pointer)
      : adapted_(std::move(file), options, pointer),
        groups_(group_sizes(*adapted_.profile, options.buckets, child(pointer, "buckets"))) {}
  void check_ranks(int /*ranks*/) const override {}
  std::unique_ptr<Workload> make(const Context& ctx, std::uint64_t /*seed*/) const override {
    return profile_workload(ctx, adapted_.profile, groups_);
  }
  bool has_values() const override { return false; }
  std::size_t buckets(const BucketSizes& sizes) const override {
    return groups_.empty() ? count_buckets(adapted_.profile->backward_lengths(), sizes)
                           : groups_.size();
  }
  TensorDetail tensor_detail() const override { return TensorDetail::lengths; }
  std::vector<std::filesystem::path> input_files() const override { return {adapted_.file}; }
  std::vector<std::string> assumed() const override { return adapted_.assumed; }
  std::optional<LayerTimes> layer_times() const override { return adapted_.times; }

 private:
  AdaptedProfile adapted_;
  std::vector<std::size_t> groups_;
};

struct FileOptions {
  std::string path;
  ProfileOptions profile;
};

}  // namespace

FieldTable<Pricing> pricing_fields() {
  return FieldTable<Pricing>{}
      .field("priced_as", &Pricing::priced_as, optional(profile_reference()),
             "profile whose message sizes and compute times replace the model's own")
      .field(
          "priced_with", &Pricing::priced_with,
          dumped_if(nested(adaptation_fields()),
                    [](const ProfileOptions& o) { return o.step_s || o.batch || o.accelerator; }),
          "adapts the profile of priced_as: step_time, batch and accelerator, the same options "
          "that a profile has as a workload")
      .only_where([](const Pricing& pricing) { return pricing.priced_as.has_value(); },
                  "adapts the profile of priced_as; expected priced_as beside it")
      .field("values", &Pricing::values, boolean(),
             "false: tensors have their sizes but no values, so only times are simulated");
}

std::unique_ptr<WorkloadFactory> make_model_workload_factory(std::unique_ptr<ModelFactory> models,
                                                             const Pricing& pricing,
                                                             const std::string& pointer) {
  if (!pricing.priced_as)
    return std::make_unique<ModelWorkloadFactory>(std::move(models), pricing.values);
  return std::make_unique<PricedFactory>(std::move(models), pricing, pointer);
}

WorkloadEntry built_in_profile_entry(const std::string& name, const std::string& doc) {
  return component<WorkloadFactory, const std::string&>(
      name, doc + "; tensors have no values", profile_option_fields(),
      [name](const ProfileOptions& options, const std::string& pointer) {
        return std::make_unique<ProfileFactory>(profile_file(name), options, pointer);
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
        return std::make_unique<ProfileFactory>(options.path, options.profile, pointer);
      });
}

}  // namespace trigram

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config/component.h"
#include "core/workload.h"
#include "core/workloads/layer_times.h"

namespace trigram {

/// The description of tensors in a workload's buckets (Bucket::tensors): none, because buckets cut
/// tensors; the tensors' lengths; or their shapes, too.
enum class TensorDetail { none, lengths, shapes };

/// The part of a workload that all ranks of a run share: data, profile, shapes. A process creates
/// it once, before any worker starts. Creating it reads every input file and throws ConfigError for
/// a bad file.
class WorkloadFactory {
 public:
  virtual ~WorkloadFactory() = default;
  /// Throws ConfigError if there is not enough data for this many ranks.
  virtual void check_ranks(int ranks) const = 0;
  /// Creates the workload of one rank: its weights and gradients are on ctx.device; data and random
  /// numbers are keyed by (seed, ctx.world_rank). All ranks start from the same weights.
  virtual std::unique_ptr<Workload> make(const Context& ctx, std::uint64_t seed) const = 0;
  virtual bool has_values() const = 0;
  /// See Workload::learns.
  virtual bool learns() const { return has_values(); }
  /// The number of buckets of each rank's workload after `bucketize(sizes)`; 0 if unknown.
  virtual std::size_t buckets(const BucketSizes& /*sizes*/) const { return 0; }
  virtual TensorDetail tensor_detail() const { return TensorDetail::none; }
  /// Samples that all ranks together train on in an epoch; 0 if there is no data set, and hence no
  /// epochs.
  virtual std::size_t samples() const { return 0; }
  /// True if the steps of a worker differ in computation, because its mini-batches differ in size.
  virtual bool steps_differ() const { return false; }
  /// True if samples have classes, so that evaluations have an accuracy beside the loss.
  virtual bool has_accuracy() const { return false; }
  /// Samples per worker and step of the model whose times are used; empty if this is the trained
  /// model itself.
  virtual std::optional<std::size_t> priced_batch() const { return {}; }
  /// Assumptions that the options add to the assumptions in the input files, as sentences.
  virtual std::vector<std::string> assumed() const { return {}; }
  /// The layer times of the profile that sets the computation times, if there is one.
  virtual std::optional<LayerTimes> layer_times() const { return std::nullopt; }
  /// All files whose content affects the results.
  virtual std::vector<std::filesystem::path> input_files() const = 0;
};

/// `make` takes the pointer at which errors in input files are reported.
using WorkloadEntry = Component<WorkloadFactory, const std::string&>;
/// All workloads, in the order in which they are listed to users.
const std::vector<WorkloadEntry>& workloads();

/// Resolves "name", {"name": ..., options} or "profile:PATH". Relative paths are made absolute,
/// starting from `base`.
Json resolve_workload(const Json& j, const std::string& pointer, const std::filesystem::path& base);
/// Creates the factory of a resolved workload. Errors in input files are reported at `pointer`.
std::unique_ptr<WorkloadFactory> make_workload_factory(const Json& resolved,
                                                       const std::string& pointer);
Json workload_schema();

WorkloadEntry built_in_profile_entry(const std::string& name, const std::string& doc);
WorkloadEntry profile_entry();
WorkloadEntry replay_entry();
WorkloadEntry fashion_mnist_entry();
WorkloadEntry quadratic_entry();
WorkloadEntry text_entry();
WorkloadEntry torchscript_entry();

}  // namespace trigram

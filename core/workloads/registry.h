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

/// What all ranks of a run share of a workload: data, profile, shapes. Made once per process,
/// before any worker starts; making it reads every input file and throws ConfigError for a bad one.
class WorkloadFactory {
 public:
  virtual ~WorkloadFactory() = default;
  /// Throws ConfigError when there is not enough data for this many ranks.
  virtual void check_ranks(int ranks) const = 0;
  /// The workload of one rank: its weights and gradients live on ctx.device; data and random
  /// numbers are keyed by (seed, ctx.world_rank). All ranks start from the same weights.
  virtual std::unique_ptr<Workload> make(const Context& ctx, std::uint64_t seed) const = 0;
  virtual bool has_values() const = 0;
  /// Of its workloads.
  virtual bool learns() const { return has_values(); }
  /// Labelled samples that all ranks together train on in an epoch. 0: it has no data set, hence
  /// neither epochs nor an accuracy.
  virtual std::size_t samples() const { return 0; }
  /// Samples of a worker's mini-batch of the model that times are of; empty where that is the model
  /// that is trained.
  virtual std::optional<std::size_t> priced_batch() const { return {}; }
  /// Assumptions that the options add to the input and that nobody has measured, as sentences.
  virtual std::vector<std::string> assumed() const { return {}; }
  /// The times that a profile's layers take, where it computes for them.
  virtual std::optional<LayerTimes> layer_times() const { return std::nullopt; }
  /// Files whose content decides the results.
  virtual std::vector<std::filesystem::path> input_files() const = 0;
};

/// Making takes the pointer at which errors found in input files are reported.
using WorkloadEntry = Component<WorkloadFactory, const std::string&>;
/// Every workload, in the order in which they are listed to users.
const std::vector<WorkloadEntry>& workloads();

/// Resolves "name", {"name": ..., options} or "profile:PATH". Relative paths are taken from `base`
/// and become absolute.
Json resolve_workload(const Json& j, const std::string& pointer, const std::filesystem::path& base);
/// `pointer` is where errors found in input files are reported.
std::unique_ptr<WorkloadFactory> make_workload_factory(const Json& resolved,
                                                       const std::string& pointer);
Json workload_schema();

}  // namespace trigram

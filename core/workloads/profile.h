#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/option_type.h"
#include "core/workloads/layer_times.h"

namespace trigram {

/// One parameter tensor of a profiled model and the computation that belongs to it.
struct ProfileTensor {
  std::string tensor;
  std::size_t numel = 0;
  double forward_s = 0;
  double backward_s = 0;  // ends when the gradient of this tensor is complete
  /// Floating-point operations of the layer's matrix products, for the profile's batch; a multiply
  /// and an add count as two. Either all tensors of a profile have them, or none.
  std::optional<std::int64_t> forward_flops, backward_flops;
};

/// Layer times of a model on one accelerator. Tensors are in the order of the forward pass; their
/// gradients complete in the reverse order.
struct Profile {
  std::string name;
  AcceleratorRates measured_on;      // empty name: unknown
  std::size_t batch = 1;             // samples per worker and step
  std::size_t buffer_bytes = 0;      // non-parameter state of the model (f32)
  std::vector<std::string> sources;  // where the numbers come from
  std::vector<std::string> assumed;  // values that are assumed rather than measured
  std::vector<ProfileTensor> tensors;

  std::size_t numel() const;
  double forward_s() const;
  double backward_s() const;
  bool has_flops() const;
  /// Lengths and names of the tensors in the order in which backward completes their gradients: the
  /// last tensor first.
  std::vector<std::size_t> backward_lengths() const;
  std::vector<std::string_view> backward_names() const;
};

/// Reads a profile. The file is CSV with the columns tensor,numel,forward_s,backward_s; or, if its
/// name ends in .json, an object with a list "tensors" of such rows. Two more columns,
/// forward_flops and backward_flops, may follow. The other properties are fields of the JSON
/// object, or comment lines `# key: value` in CSV: name, accelerator, its `flops` ("9.3TFLOP/s")
/// and `memory_bandwidth` ("732GB/s"), batch, buffers ("212480B"), totals (`forward_s` and
/// `backward_s`, which are compared with the rows), sources and assumptions. Throws ConfigError at
/// `pointer`, naming the file, the line, and what was expected.
Profile load_profile(const std::filesystem::path& file, const std::string& pointer);

/// Names of the profiles that come with the program.
const std::vector<std::string>& built_in_profiles();

/// A reference to a profile: the name of a built-in profile, or "profile:PATH".
OptionType<std::string> profile_reference();

/// Returns PATH for "profile:PATH"; empty for anything else.
std::string path_in_reference(const std::string& reference);

/// Throws ConfigError if `name` is a path rather than a name or "profile:PATH".
void refuse_bare_path(const std::string& name, const std::string& pointer);

/// The file that a reference refers to.
std::filesystem::path profile_file(const std::string& reference);

}  // namespace trigram

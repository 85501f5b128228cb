#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// A complete event ("ph": "X") of a trace of torch.profiler. Times are in microseconds.
struct ProfilerEvent {
  std::string name = {}, category = {}, thread = {};
  double begin_us = 0, end_us = 0;
  const Json* args = nullptr;  // null if there are none; belongs to the document
  std::string pointer = {};    // its place in the document

  double duration_us() const { return end_us - begin_us; }
  bool holds(const ProfilerEvent& other) const {
    return begin_us <= other.begin_us && other.end_us <= end_us;
  }
  /// An integer among the arguments, such as "Sequence number"; nullopt if there is none.
  std::optional<long> argument(const char* key) const;

  bool is_operation() const;      // an operation of the library, such as aten::linear
  bool is_backward() const;       // the autograd engine's call of a node
  bool is_gradient() const;       // a gradient of a parameter becomes complete
  bool is_module() const;         // a call of an nn.Module
  bool is_kernel() const;         // work of an accelerator
  bool is_exchange() const;       // communication, on either side
  bool is_beside_passes() const;  // the optimizer or the data loader
};

/// The events of one step, by begin; of two that begin together the longer one is first.
struct ProfilerStep {
  std::vector<ProfilerEvent> events;
  std::optional<double> length_us;  // nullopt: the trace does not mark steps
  std::string place;                // how messages name the step
};

/// The events of the step `number`, or of the last whole step. Throws ConfigError.
ProfilerStep read_profiler_step(const Json& document, std::optional<long> number);

}  // namespace trigram

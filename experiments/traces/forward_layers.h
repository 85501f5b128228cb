#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/traces/profiler_events.h"

namespace trigram {

/// A layer of the forward pass that has parameters: a call of an nn.Module, if the trace has these
/// calls, or an operation that no other operation contains.
struct ForwardLayer {
  std::string name;   // such as Linear_0 or linear_0
  double end_us = 0;  // on the CPU
};

/// Finds the layer to which a gradient belongs: the backward node that produced the gradient has
/// the sequence number of the forward operation that created the node.
class ForwardLayers {
 public:
  /// `forward` holds the operations of the pass, on its thread.
  ForwardLayers(const ProfilerStep& step, const ProfilerEvent& forward);

  /// The layer of the operation with this number; nullopt if it is not in the trace.
  std::optional<ForwardLayer> layer_of(long sequence_number);

  /// Operations that no other operation contains, in order.
  const std::vector<ProfilerEvent>& operations() const { return outermost_; }

 private:
  std::vector<ProfilerEvent> outermost_;
  std::vector<ProfilerEvent> modules_;
  std::map<long, ProfilerEvent> by_number_;
  std::map<double, std::string> names_;  // by the begin of the operation
};

}  // namespace trigram

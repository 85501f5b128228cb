#pragma once

#include <cstddef>
#include <cstdint>

#include "core/config/fields.h"

namespace trigram {

/// How layers are grouped into fragments. With 6 layers in 2 fragments, strided fragments are the
/// layers {0, 2, 4} and {1, 3, 5}, and sequential fragments are {0, 1, 2} and {3, 4, 5}. Layer 0 is
/// next to the model's input.
enum class FragmentOrder { strided, sequential };

/// When each fragment of a model is exchanged: one fragment every `sync_every` / `fragments` steps,
/// and each fragment every `sync_every` steps (Streaming DiLoCo, Douillard et al., arXiv
/// 2501.18512). A layer is a bucket of the workload.
struct FragmentSchedule {
  std::int64_t sync_every = 100;  // a multiple of `fragments`, unless `rounded`
  std::int64_t fragments = 2;     // at most the number of layers
  FragmentOrder order = FragmentOrder::strided;
  // If `fragments` does not divide `sync_every`, the steps between exchanges are rounded.
  bool rounded = false;

  /// The fragment of a bucket of a workload with `buckets` buckets, which are numbered in the order
  /// of the backward pass.
  std::int64_t fragment_of(std::size_t bucket, std::size_t buckets) const;
  /// True if the exchange of the fragment begins at the end of iteration `step`, which counts from
  /// 0.
  bool due(std::int64_t fragment, long step) const {
    const std::int64_t offset = (2 * (fragment + 1) * sync_every + fragments) / (2 * fragments);
    return step >= 0 && (step + 1) % sync_every == offset % sync_every;
  }
};
/// The options `sync_every`, `fragments` and `order`.
FieldTable<FragmentSchedule> fragment_fields();

/// Throws ConfigError, at a member of `pointer`, if `fragments` does not divide `sync_every` and
/// the schedule is not `rounded`, or if `overlap_steps` is not below `sync_every`, so that a
/// fragment's exchange would not end before its next exchange begins. `alternative` says which
/// setting allows any number of fragments; empty: none does.
void check_fragments(const FragmentSchedule& schedule, std::int64_t overlap_steps,
                     const std::string& pointer, const std::string& alternative = "");

}  // namespace trigram

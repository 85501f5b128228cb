#pragma once

#include <cstddef>
#include <cstdint>

#include "core/config/option_type.h"

namespace trigram {

/// Which layers form a fragment. With 2 fragments of 6 layers, strided fragments are the layers 0,
/// 2, 4 and 1, 3, 5, and sequential ones 0, 1, 2 and 3, 4, 5. Layer 0 is next to the model's input.
enum class FragmentOrder { strided, sequential };
OptionType<FragmentOrder> fragment_order_kind();

/// A model that is exchanged in fragments, one after another, every `sync_every` / `fragments`
/// steps, so that each is exchanged every `sync_every` steps (Streaming DiLoCo, Douillard et al.,
/// arXiv 2501.18512). A layer is a bucket of the workload.
struct FragmentSchedule {
  std::int64_t sync_every = 100;  // a multiple of `fragments`, unless `rounded`
  std::int64_t fragments = 2;     // at most the number of layers
  FragmentOrder order = FragmentOrder::strided;
  bool rounded = false;  // the fragments need not divide `sync_every`; distances are rounded

  /// The fragment of a bucket of a workload with `buckets` buckets, which are numbered in the order
  /// of the backward pass.
  std::int64_t fragment_of(std::size_t bucket, std::size_t buckets) const;
  /// True if the fragment is exchanged at the end of iteration `step`, which counts from 0.
  bool due(std::int64_t fragment, long step) const {
    const std::int64_t offset = (2 * (fragment + 1) * sync_every + fragments) / (2 * fragments);
    return step >= 0 && (step + 1) % sync_every == offset % sync_every;
  }
};

/// Throws ConfigError, at a member of `pointer`, unless the fragments divide `sync_every`, and an
/// exchange beside `overlap_steps` steps ends before the fragment's next one begins.
void check_fragments(const FragmentSchedule& schedule, std::int64_t overlap_steps,
                     const std::string& pointer);

}  // namespace trigram

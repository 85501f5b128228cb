#include "algorithms/execution/fragments.h"

#include <fmt/format.h>

#include "core/config/config_error.h"

namespace trigram {

FieldTable<FragmentSchedule> fragment_fields() {
  using F = FragmentSchedule;
  return FieldTable<F>{}
      .field("sync_every", &F::sync_every, integer(1),
             "H: steps from one exchange of a fragment to its next")
      .field("fragments", &F::fragments, integer(1, 1 << 16),
             "Number of fragments, F; a layer (a bucket) belongs to one")
      .field("order", &F::order,
             one_of<FragmentOrder>(
                 {{"strided", FragmentOrder::strided}, {"sequential", FragmentOrder::sequential}}),
             "Layers of a fragment: strided: every F-th, for F fragments; sequential: neighbours");
}

std::int64_t FragmentSchedule::fragment_of(std::size_t bucket, std::size_t buckets) const {
  const auto layers = static_cast<std::int64_t>(buckets);
  const std::int64_t layer = layers - 1 - static_cast<std::int64_t>(bucket);
  return order == FragmentOrder::strided ? layer % fragments : layer * fragments / layers;
}

void check_fragments(const FragmentSchedule& schedule, std::int64_t overlap_steps,
                     const std::string& pointer, const std::string& alternative) {
  if (!schedule.rounded && schedule.sync_every % schedule.fragments != 0)
    throw ConfigError(
        child(pointer, "fragments"),
        fmt::format("fragments are exchanged at equal distances; expected a divisor of the "
                    "sync_every of {}{}, not {}",
                    schedule.sync_every, alternative.empty() ? "" : " or " + alternative,
                    schedule.fragments));
  if (overlap_steps >= schedule.sync_every)
    throw ConfigError(child(pointer, "overlap_steps"),
                      fmt::format("a fragment's exchange ends before its next one begins; expected "
                                  "less than the sync_every of {}, not {}",
                                  schedule.sync_every, overlap_steps));
}

}  // namespace trigram

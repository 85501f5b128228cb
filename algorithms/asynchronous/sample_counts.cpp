#include "algorithms/asynchronous/sample_counts.h"

#include "algorithms/execution/control_tag.h"

namespace trigram {
namespace {

constexpr std::int64_t kNoMore = 0;  // instead of a number of samples

}  // namespace

void SampleCounts::announce(Context ctx, long step, std::int64_t samples) {
  for (int rank = 0; rank < ctx.world_size; ++rank)
    if (rank != ctx.world_rank) ctx.control->post(rank, kSamplesTag, step, samples);
}

void SampleCounts::begin(Context ctx, long step, std::int64_t samples) {
  counts_[step].samples += samples;
  announce(ctx, step, samples);
}

void SampleCounts::count(const Message& message) {
  Count& of_step = counts_[message.a];
  if (message.b == kNoMore) ++of_step.complete;
  else of_step.samples += message.b;
}

std::int64_t SampleCounts::begun(Context ctx, long step) {
  while (const auto message = ctx.control->poll(kSamplesTag)) count(*message);
  return counts_[step].samples;
}

std::int64_t SampleCounts::total(Context ctx, long step) {
  announce(ctx, step, kNoMore);
  while (counts_[step].complete < ctx.world_size - 1) {
    const auto message = ctx.control->receive(kSamplesTag);
    if (!message) break;  // the world is ending
    count(*message);
  }
  const std::int64_t samples = counts_[step].samples;
  counts_.erase(step);
  return samples;
}

}  // namespace trigram

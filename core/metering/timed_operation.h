#pragma once

#include <utility>

#include "core/metering/metered_rank.h"
#include "core/stream.h"

namespace trigram {

/// Runs `operation` on a stream and tells `then` when it began and ended on the stream's clock: at
/// once, or, where the stream issues to an accelerator, when the accelerator has told. `then` must
/// own what it uses.
template <class Operation, class Then>
void timed(Stream& clock, MeteredRank& rank, Operation operation, Then then) {
  std::unique_ptr<Moment> begin = clock.mark();
  if (begin) {
    operation();
    rank.when_known(std::move(begin), clock.mark(), std::move(then));
    return;
  }
  const double begin_s = clock.now();
  operation();
  then(begin_s, clock.now());
}

}  // namespace trigram

#pragma once

#include <memory>
#include <utility>

#include "core/metering/metered_rank.h"
#include "core/stream.h"

namespace trigram {

// These two functions are not part of `timed`, so that their variables are not on the stack during
// every transfer: thousands of simulated ranks compete for the cache.

template <class MakeThen>
[[gnu::noinline]] void tell(MakeThen& make_then, double begin_s, double end_s) {
  make_then()(begin_s, end_s);
}

template <class Operation, class MakeThen>
[[gnu::noinline]] void timed_later(Stream& clock, MeteredRank& rank,
                                   std::unique_ptr<EventTime> begin, Operation& operation,
                                   MakeThen& make_then) {
  operation();
  rank.when_known(std::move(begin), clock.mark(), make_then());
}

/// Runs `operation` on a stream and then calls `make_then()`, which returns a function. That
/// function is called with the begin and the end of the operation, in seconds of the stream's
/// clock. If the stream issues to an accelerator, the call comes later, when the accelerator
/// reports the times. The result of `make_then()` must own everything it uses.
template <class Operation, class MakeThen>
void timed(Stream& clock, MeteredRank& rank, Operation operation, MakeThen make_then) {
  if (std::unique_ptr<EventTime> begin = clock.mark())
    return timed_later(clock, rank, std::move(begin), operation, make_then);
  const double begin_s = clock.now();
  operation();
  tell(make_then, begin_s, clock.now());
}

}  // namespace trigram

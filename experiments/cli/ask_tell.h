#pragma once

#include <functional>
#include <iosfwd>

#include "experiments/sweep/tuned_sweep.h"

namespace trigram {

/// Answers requests, a JSON object on each line of `in`, by a JSON object on a line of `out`, until
/// `in` ends:
///
///   {"ask": 2}                                       {"points": [{"/a": 1}, {"/a": 4}]}
///   {"tell": [{"point": {"/a": 1}, "value": 0.3}]}   {"told": 1, "best": {"point": ..., "value":
///   ...}}
///   {"evaluate": [{"/a": 1}]}                        {"values": [{"point": {"/a": 1}, "value":
///   0.3}]}
///
/// A value of null means that the evaluation failed. A request that is none is answered by
/// {"error": text}. `sweep` makes the object that evaluates points; it is called for the first such
/// request.
void answer_requests(Tuner& tuner, const std::function<TunedSweep&()>& sweep, std::istream& in,
                     std::ostream& out);

}  // namespace trigram

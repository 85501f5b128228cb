#pragma once

#include <functional>
#include <iosfwd>

#include "experiments/sweep/tuned_sweep.h"

namespace trigram {

/// Answers requests until `in` ends. A request is a JSON object on a line of `in`, and its answer
/// is a JSON object on a line of `out`:
///
///   {"ask": 2}
///     -> {"points": [{"/a": 1}, {"/a": 4}]}
///   {"tell": [{"point": {"/a": 1}, "value": 0.3}]}
///     -> {"told": 1, "best": {"point": {"/a": 1}, "value": 0.3}}
///   {"evaluate": [{"/a": 1}]}
///     -> {"values": [{"point": {"/a": 1}, "value": 0.3}]}
///
/// A value of null means that the evaluation failed; in answers to "evaluate", such an entry also
/// has "why". An invalid request is answered with {"error": text}. `sweep` returns the object that
/// evaluates points. It is called for every "evaluate" request and must return the same object each
/// time; the caller may create the object at the first call.
void answer_requests(Tuner& tuner, const std::function<TunedSweep&()>& sweep, std::istream& in,
                     std::ostream& out);

}  // namespace trigram

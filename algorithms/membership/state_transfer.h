#pragma once

#include "core/algorithm.h"

// The state of a worker as messages, for a worker that takes the place of another one.

namespace trigram {

/// What one worker takes over from another.
enum class Takes {
  everything,  // weights, buffers, the optimizer's state and the algorithm's
  algorithm,   // only the state that the algorithm keeps (Run::state)
};

/// Sends the state of this rank to rank `to`, which calls `receive_state`: one message per tensor,
/// and one for all numbers. Bit for bit, except that phantoms carry no numbers.
void send_state(Context c, Run& run, int to, Takes what);
void receive_state(Context c, Run& run, int from, Takes what);

/// Overwrites the memory of a worker that fails: all values become NaN and all numbers 0, so that
/// nothing of them can be used by mistake.
void lose_state(Context c, Run& run);

}  // namespace trigram

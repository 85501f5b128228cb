#pragma once

#include "core/context.h"

namespace trigram {

/// True on every rank when every rank said true, false on every rank otherwise. On the control
/// plane, by dissemination: ceil(lg P) rounds of one message each. All ranks of the world call it,
/// each on the same-named stream.
bool agree(Context ctx, bool mine);

}  // namespace trigram

#pragma once

#include "core/context.h"

namespace trigram {

/// Returns true on every rank if every rank passes true, and false on every rank otherwise. Uses
/// the control plane, by dissemination: ceil(lg P) rounds of one message each. All ranks of the
/// world call it, on streams of the same name.
bool agree(Context ctx, bool mine);

}  // namespace trigram

#pragma once

#include <functional>
#include <vector>

#include "core/context.h"

// Exchanges between an active and a passive rank in whatever order the active ones ask, reserved on
// the control plane first: a passive rank grants one request at a time, and an active one has one
// at a time, so a rank's next data operation is always the one that it has promised. Each function
// runs on the stream of a rank that nothing else uses the control plane of.

namespace trigram {

/// What a rank does with a partner once both have committed to it.
using PairAction = std::function<void(Context, int partner)>;

/// Active: waits until `partner` grants the request, then runs `action` with it.
void request_pair(Context c, int partner, const PairAction& action);
/// Active, last: tells all `partners`, the ranks that it could have asked, that it will not.
void end_requests(Context c, const std::vector<int>& partners);
/// Passive: runs `action` with each requester, in the order of requests, until each of the
/// `partners` that could ask has ended its requests.
void grant_requests(Context c, const std::vector<int>& partners, const PairAction& action);

}  // namespace trigram

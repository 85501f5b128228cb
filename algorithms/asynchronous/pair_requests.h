#pragma once

#include <functional>
#include <vector>

#include "core/context.h"

// Exchanges between active and passive ranks, in the order of the active ranks' requests. They are
// first reserved on the control plane: a passive rank grants one request at a time, and an active
// rank has at most one request, so a rank's next data operation is always the one that it has
// promised. No other task may use the control plane of the stream on which such a function runs.

namespace trigram {

/// The exchange of a rank with a partner, once both have committed to it.
using PairAction = std::function<void(Context, int partner)>;

/// Active: waits until `partner` grants the request, then runs `action` with it.
void request_pair(Context c, int partner, const PairAction& action);
/// Active, at the end: tells all `partners`, the ranks that it could have asked, that it will not
/// ask again.
void end_requests(Context c, const std::vector<int>& partners);
/// Passive: runs `action` with each requester, in the order of requests, until all `partners` have
/// ended their requests.
void grant_requests(Context c, const std::vector<int>& partners, const PairAction& action);

}  // namespace trigram

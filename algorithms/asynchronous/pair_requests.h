#pragma once

#include <functional>
#include <vector>

#include "core/context.h"

// Exchanges between active and passive ranks, in the order of the active ranks' requests. Every
// exchange is first reserved on the control plane: a passive rank grants one request at a time, and
// an active rank has at most one request. So a rank's next data operation is always the exchange
// that it has reserved. While one of these functions runs on a stream, no other task may use the
// control plane of that stream.

namespace trigram {

/// The exchange of a rank with a partner, once both have committed to it.
using PairAction = std::function<void(Context, int partner)>;

/// Called by an active rank: waits until `partner` grants the request, then runs `action` with it.
void request_pair(Context c, int partner, const PairAction& action);
/// Called by an active rank at the end: tells all `partners`, the ranks that it could have asked,
/// that it will not ask again.
void end_requests(Context c, const std::vector<int>& partners);
/// Called by a passive rank: runs `action` with each requester, in the order of requests, until all
/// `partners` have ended their requests.
void grant_requests(Context c, const std::vector<int>& partners, const PairAction& action);

}  // namespace trigram

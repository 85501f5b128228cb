#include "algorithms/asynchronous/pair_requests.h"

#include "algorithms/execution/control_tag.h"

namespace trigram {
namespace {

enum Request : std::int64_t { kAverage, kNoMoreRequests };

}  // namespace

void request_pair(Context c, int partner, const PairAction& action) {
  c.control->post(partner, kRequestTag, kAverage);
  if (c.control->receive(kGrantTag)) action(c, partner);
}

void end_requests(Context c, const std::vector<int>& partners) {
  for (const int partner : partners) c.control->post(partner, kRequestTag, kNoMoreRequests);
}

void grant_requests(Context c, const std::vector<int>& partners, const PairAction& action) {
  for (std::size_t active = partners.size(); active > 0;) {
    const auto request = c.control->receive(kRequestTag);
    if (!request) return;  // the world is ending
    if (request->a == kNoMoreRequests) {
      --active;
      continue;
    }
    c.control->post(request->source, kGrantTag, 0);
    action(c, request->source);
  }
}

}  // namespace trigram

#include "core/workload.h"

namespace trigram {

void Workload::forward_by_bucket(Context ctx, const std::function<void(Bucket&)>& before) {
  for (std::size_t i = buckets().size(); i-- > 0;) before(buckets()[i]);
  forward(ctx);
}

}  // namespace trigram

#include "core/optimizer.h"

#include "core/check.h"

namespace trigram {

void Optimizer::accumulate(Context, Bucket&) {
  TRIGRAM_CHECK(false, "this optimizer has no moment to accumulate into");
}

void Optimizer::advance(Context, Bucket&, float) {
  TRIGRAM_CHECK(false, "this optimizer has no moment to advance along");
}

}  // namespace trigram

#include "runtime/sim/fluid/pricer.h"

#include "runtime/sim/fluid/fluid_collectives.h"
#include "runtime/sim/stream.h"

namespace trigram::sim {

void SimPricer::price(const CollectivePattern& pattern, const Messages& messages) {
  stream_.check_current();
  if (stream_.untimed())
    return messages(false);  // this collective is a part of a priced collective
  if (!fluid_.make(stream_, pattern, [&] { messages(false); })) messages(true);
}

}  // namespace trigram::sim

#pragma once

#include "core/collective_pricer.h"

namespace trigram::sim {

class FluidCollectives;
class SimStream;

/// Prices the collectives of one stream of one rank as flows.
class SimPricer final : public CollectivePricer {
 public:
  SimPricer(SimStream& stream, FluidCollectives& fluid) : stream_(stream), fluid_(fluid) {}
  void price(const CollectivePattern& pattern, const Messages& messages) override;

 private:
  SimStream& stream_;
  FluidCollectives& fluid_;
};

}  // namespace trigram::sim

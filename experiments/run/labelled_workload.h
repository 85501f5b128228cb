#pragma once

#include <memory>
#include <span>

#include "core/json.h"
#include "core/metering/meter.h"
#include "core/workload.h"

namespace trigram {

/// Labels the events of a rank with the phase of the step and the bucket. `meter` must outlive the
/// workload.
std::unique_ptr<Workload> labelled(std::unique_ptr<Workload> workload, Meter& meter);

/// The buckets for trace.json: the name of the first tensor, and the bytes as priced.
Json buckets_json(std::span<Bucket> buckets);

}  // namespace trigram

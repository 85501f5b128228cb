#pragma once

#include <string>

#include "core/config/option_type.h"
#include "experiments/bench/measure.h"

namespace trigram {

// The columns of nccl-tests, and the operation and algorithm before them.
std::string bench_header();
std::string bench_row(const Measured& m);
Json bench_json(const Measured& m);

}  // namespace trigram

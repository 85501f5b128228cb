#pragma once

#include <string>

#include "core/config/option_type.h"
#include "experiments/bench/measure.h"

namespace trigram {

// The table has the columns of nccl-tests, preceded by the operation and the algorithm.
std::string bench_header();
std::string bench_row(const Measured& m);
Json bench_json(const Measured& m);

}  // namespace trigram

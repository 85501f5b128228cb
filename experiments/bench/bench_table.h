#pragma once

#include <string>

#include "core/config/option_type.h"
#include "experiments/bench/measure.h"

namespace trigram {

// The table has the columns of nccl-tests, after a column for the operation and one for the
// algorithm.
std::string bench_header();
std::string bench_row(const Measurement& m);
Json bench_json(const Measurement& m);

}  // namespace trigram

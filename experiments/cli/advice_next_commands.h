#pragma once

#include <string>

#include "experiments/advise/advisor.h"

namespace trigram {

/// The lines below an answer that name the commands which explain it: why the first candidates take
/// less time than others, and how they learn. `folder` holds the results.
std::string next_commands(const Advice& advice, const Contest& contest, const std::string& folder);

}  // namespace trigram

#pragma once

#include "experiments/advise/advice.h"

namespace trigram {

/// Advice as JSON, for programs (docs/formats.md).
Json advice_json(const Advice& advice, const Contest& contest, const Advisor& advisor);

}  // namespace trigram

#pragma once

#include "experiments/advise/advice.h"

namespace trigram {

/// Advice as JSON, for programs (docs/advise-json.md).
Json advice_json(const Advice& advice, const Contest& contest, const Advisor& advisor);

}  // namespace trigram

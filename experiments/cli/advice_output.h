#pragma once

#include <string>

#include "experiments/advise/advisor.h"

namespace trigram {

/// Advice as JSON, for programs (docs/advise-json.md).
Json advice_json(const Advice& advice, const Contest& contest, const Advisor& advisor);

/// Advice as text, for people: the candidates in order, and what would change that order.
std::string advice_table(const Advice& advice, const Contest& contest, const Advisor& advisor);

}  // namespace trigram

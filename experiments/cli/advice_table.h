#pragma once

#include <string>

#include "experiments/advise/advice.h"

namespace trigram {

/// Advice as text, for people: the candidates in order, and what would change that order.
std::string advice_table(const Advice& advice, const Contest& contest, const Advisor& advisor);

}  // namespace trigram

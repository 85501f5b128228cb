#pragma once

#include <string>
#include <vector>

#include "experiments/advise/advisor.h"

namespace trigram {

/// Advice as JSON, for programs (docs/advise-json.md).
Json advice_json(const Advice& advice, const Contest& contest, const Advisor& advisor);

/// The warnings that concern the answer, as sentences: uneven paces, and what changes where NICs
/// differ. The runs' own warnings are not among them.
std::vector<std::string> warnings_of_answer(const Advice& advice, const Contest& contest);

/// The lines of the table that says where the order of the candidates changes.
std::vector<std::vector<std::string>> sensitivity_lines(const Advice& advice,
                                                        const Contest& contest,
                                                        const Advisor& advisor);

/// Advice as text, for people: the candidates in order, and what would change that order.
std::string advice_table(const Advice& advice, const Contest& contest, const Advisor& advisor);

}  // namespace trigram

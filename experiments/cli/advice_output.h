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

/// The first part of advice as text: the candidates in order.
std::string ranking_text(const Advice& advice, const Contest& contest);
/// The second part: what would change that order, and how to see more.
std::string sensitivity_text(const Advice& advice, const Contest& contest, const Advisor& advisor);

}  // namespace trigram

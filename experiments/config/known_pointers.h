#pragma once

#include <string>

namespace trigram {

/// Guesses the JSON pointer of the option that a name refers to: "/steps" for "steps" or
/// "train.steps", "/optimizer/lr" for "lr". Empty if no pointer ends in the name.
std::string known_pointer(const std::string& name);

}  // namespace trigram

#pragma once

#include <string>

namespace trigram {

/// The JSON pointer of the option that a name means: "/steps" for "steps" or "train.steps",
/// "/optimizer/lr" for "lr"; empty where no pointer ends in the name.
std::string known_pointer(const std::string& name);

}  // namespace trigram

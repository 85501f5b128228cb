#pragma once

#include <string>

#include "core/config/option_type.h"

namespace trigram {

/// The options that a sweep gives to a component: "codec=sign hierarchical=true". The mode is left
/// out, because label_of shows it with the name. Empty for values without a name.
std::string options_label(const Json& value);

}  // namespace trigram

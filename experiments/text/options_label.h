#pragma once

#include <string>

#include "core/config/option_type.h"

namespace trigram {

/// The options that a component of a sweep is given, its mode aside, which is of its name
/// (label_of): "codec=sign hierarchical=true". Empty for what has no name.
std::string options_label(const Json& value);

}  // namespace trigram

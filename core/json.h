#pragma once

#include <nlohmann/json.hpp>

namespace trigram {

using Json = nlohmann::json;  // keys are kept sorted, so equal values have equal texts

}  // namespace trigram

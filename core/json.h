#pragma once

#include <nlohmann/json.hpp>

namespace trigram {

/// Object keys are sorted, so the order of insertion does not change the dumped text.
using Json = nlohmann::json;

}  // namespace trigram

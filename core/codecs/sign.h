#pragma once

#include "core/config/fields.h"

namespace trigram::sign {

enum class Scale { l2, l1_mean, one, means };

struct Options {
  Scale scale = Scale::l2;
};
FieldTable<Options> option_fields();

/// The scale, as f32, comes before the signs; for `means`, both of them.
constexpr std::size_t header_bytes(Scale scale) {
  return (scale == Scale::means ? 2 : 1) * sizeof(float);
}

}  // namespace trigram::sign

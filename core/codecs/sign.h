#pragma once

#include "core/config/fields.h"

namespace trigram::sign {

enum class Scale { l2, l1_mean, one, means };

struct Options {
  Scale scale = Scale::l2;
};
FieldTable<Options> option_fields();

/// The scale precedes the signs, as f32; for `means` there are two.
constexpr std::size_t header_bytes(Scale scale) {
  return (scale == Scale::means ? 2 : 1) * sizeof(float);
}

}  // namespace trigram::sign

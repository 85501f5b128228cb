#pragma once

#include "core/config/fields.h"

namespace trigram::sign {

enum class Scale { l2, l1_mean };

struct Options {
  Scale scale = Scale::l2;
};
FieldTable<Options> option_fields();

/// The scale, as f32, comes before the signs.
inline constexpr std::size_t kHeaderBytes = sizeof(float);

}  // namespace trigram::sign

#pragma once

#include "core/codecs/qsgd_kernels.h"
#include "core/config/fields.h"

namespace trigram::qsgd {

enum class Norm { l2, max };

struct Options {
  std::int64_t levels = 127;
  std::int64_t bucket = 512;
  Norm norm = Norm::l2;
};
FieldTable<Options> option_fields();
Format format_of(const Options& options);

}  // namespace trigram::qsgd

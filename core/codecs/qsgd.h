#pragma once

#include "core/codecs/qsgd_kernels.h"
#include "core/config/fields.h"

namespace trigram::qsgd {

enum class Norm { l2, max };
/// How the length of a bucket's code is counted: `fixed` counts its real length in codes of fixed
/// length; `elias` counts an upper bound of its mean length in Elias codes (core/codecs/elias.h).
enum class Coding { fixed, elias };

struct Options {
  std::int64_t levels = 127;
  std::int64_t bucket = 512;
  Norm norm = Norm::l2;
  Coding coding = Coding::fixed;
};
FieldTable<Options> option_fields();
Format format_of(const Options& options);

}  // namespace trigram::qsgd

#pragma once

#include "core/codecs/qsgd_kernels.h"
#include "core/config/fields.h"

namespace trigram::qsgd {

enum class Norm { l2, max };
/// How long a bucket's code counts as: what it is in codes of fixed length, or the bound of what
/// Elias codes would take on average (core/codecs/elias.h).
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

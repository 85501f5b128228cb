#include "core/codecs/scaled_blocks.h"

#include <fmt/format.h>

#include "core/config/option_type.h"

namespace trigram::scaled_blocks {

FieldTable<Options> option_fields(std::size_t codes_per_byte) {
  OptionType<std::int64_t> kind = integer(static_cast<std::int64_t>(codes_per_byte), 1 << 20);
  kind.parse = [parse = kind.parse, codes_per_byte](const Json& j, const std::string& pointer) {
    const std::int64_t block = parse(j, pointer);
    if (block % static_cast<std::int64_t>(codes_per_byte) != 0)
      wrong_type(pointer, fmt::format("a multiple of {}", codes_per_byte), j);
    return block;
  };
  const std::string only = codes_per_byte > 1
                               ? fmt::format(
                                     "; a multiple of {}, so that no byte belongs to two "
                                     "blocks",
                                     codes_per_byte)
                               : "";
  return FieldTable<Options>{}.field("block", &Options::block, kind,
                                     "Elements that share a scale" + only);
}

}  // namespace trigram::scaled_blocks

#include "core/codecs/scaled_blocks.h"

#include <fmt/format.h>

#include <bit>

#include "core/codecs/hadamard.h"
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
  return FieldTable<Options>{}
      .field("block", &Options::block, kind, "Elements that share a scale" + only)
      .field("hadamard", &Options::hadamard,
             dumped_if(integer(1, hadamard::kMost), [](std::int64_t group) { return group > 1; }),
             "Elements to which a Hadamard transform is applied together before they are encoded "
             "and after they are decoded, a power of two that divides `block`; 1: none")
      .finish_with([](const Options& options, const std::string& pointer) {
        const auto group = static_cast<std::uint64_t>(options.hadamard);
        if (!std::has_single_bit(group) || options.block % options.hadamard != 0)
          throw ConfigError(child(pointer, "hadamard"),
                            fmt::format("expected a power of two that divides the block of {}, "
                                        "not {}",
                                        options.block, group));
      });
}

}  // namespace trigram::scaled_blocks

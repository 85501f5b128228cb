#include "core/codecs/registry.h"

#include "core/codecs/minmax_uint8.h"
#include "core/config/kinds.h"

namespace trigram {

const std::vector<CodecEntry>& codecs() {
  static const std::vector<CodecEntry> entries = {
      {"minmax_uint8",
       "8 bits per element on a uniform grid from the chunk's minimum to its maximum, on which "
       "zero "
       "is exact; 32-byte header per chunk (BAGUA, arXiv 2107.01499)",
       MinMaxUInt8::wire_size,
       []() -> std::unique_ptr<Codec> { return std::make_unique<MinMaxUInt8>(); }},
  };
  return entries;
}

const CodecEntry& find_codec(const std::string& name, const std::string& pointer) {
  std::vector<std::string> names;
  for (const CodecEntry& entry : codecs()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  unknown_name(pointer, "codec", name, names);
}

}  // namespace trigram

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/codec.h"

namespace trigram {

/// A codec that configurations and devices know by name.
struct CodecEntry {
  std::string name;
  std::string doc;
  /// What Codec::wire_bytes of every implementation of this codec returns.
  std::size_t (*wire_bytes)(std::size_t numel);
  /// The implementation on host memory.
  std::unique_ptr<Codec> (*make_host)();
};

/// Every codec, in the order in which they are listed to users.
const std::vector<CodecEntry>& codecs();

/// The codec of that name; throws ConfigError at `pointer`, with the nearest name, when there is
/// none.
const CodecEntry& find_codec(const std::string& name, const std::string& pointer = "/codec");

}  // namespace trigram

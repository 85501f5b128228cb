#pragma once

#include <vector>

#include "core/codec.h"
#include "core/config/component.h"

namespace trigram {

/// A codec that configurations and devices know by name. `make` gives the implementation on host
/// memory, whose `wire_bytes` is that of every implementation.
using CodecEntry = Component<Codec, const CodecKey&>;

/// Every codec, in the order in which they are listed to users.
const std::vector<CodecEntry>& codecs();

/// The host codec of `spec`; options that are missing have their defaults. Throws ConfigError, with
/// the nearest name, when there is none of that name.
std::unique_ptr<Codec> make_host_codec(const CodecSpec& spec, const CodecKey& key);

/// How a configuration names a codec: "name" or {"name": ..., options}.
Kind<CodecSpec> codec_kind();

}  // namespace trigram

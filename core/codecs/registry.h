#pragma once

#include <functional>
#include <vector>

#include "core/codec.h"
#include "core/config/component.h"

namespace trigram {

/// A codec that configurations and devices know by name. `make` gives the implementation on host
/// memory, whose `wire_bytes` is that of every implementation.
struct CodecEntry : Component<Codec, const CodecKey&> {
  /// Whether the codec is a contraction with these options: it loses less of a vector than all,
  /// |x - Q(x)|^2 <= c |x|^2 in expectation with c < 1. What codes its own losses again, such as
  /// error feedback, can diverge with one that is not.
  std::function<bool(const Json& resolved)> contracts;
};

/// Every codec, in the order in which they are listed to users.
const std::vector<CodecEntry>& codecs();

/// The host codec of `spec`; options that are missing have their defaults. Throws ConfigError, with
/// the nearest name, when there is none of that name.
std::unique_ptr<Codec> make_host_codec(const CodecSpec& spec, const CodecKey& key);

/// Whether the codec of `spec` is a contraction.
bool contracts(const CodecSpec& spec);

/// How a configuration names a codec: "name" or {"name": ..., options}.
OptionType<CodecSpec> codec_kind();

}  // namespace trigram

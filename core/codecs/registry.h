#pragma once

#include <functional>
#include <vector>

#include "core/codec.h"
#include "core/config/component.h"

namespace trigram {

/// A codec that configurations and devices select by name. `make` creates the implementation on
/// host memory; its `wire_bytes` holds for every implementation.
struct CodecEntry : Component<Codec, const CodecKey&> {
  /// True if the codec is a contraction with these options: |x - Q(x)|^2 <= c |x|^2 in expectation
  /// with c < 1. Without this property, schemes that encode again what they lost before, such as
  /// error feedback, can diverge.
  std::function<bool(const Json& resolved)> contracts;
};

/// All codecs, in the order in which they are listed to users.
const std::vector<CodecEntry>& codecs();

/// Creates the host codec of `spec`; missing options have their defaults. Throws ConfigError, with
/// the nearest name, if there is no codec of that name.
std::unique_ptr<Codec> make_host_codec(const CodecSpec& spec, const CodecKey& key);

/// True if the codec of `spec` is a contraction.
bool contracts(const CodecSpec& spec);

/// The option by which a configuration selects a codec: "name" or {"name": ..., options}.
OptionType<CodecSpec> codec_kind();

}  // namespace trigram

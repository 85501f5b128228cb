#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/codec.h"
#include "core/config/component.h"

namespace trigram {

/// A codec that configurations and devices select by name. `make` creates the implementation on
/// host memory; its `wire_bytes` holds for every implementation.
struct CodecEntry : Component<Codec, const CodecKey&> {
  /// True if the codec is a contraction with these options: |x - Q(x)|^2 <= c |x|^2 in expectation
  /// with c < 1. Otherwise error feedback, which adds the error of one message to the next, can
  /// diverge.
  std::function<bool(const Json& resolved)> is_contraction;
};

/// All codecs, in the order in which they are listed to users.
const std::vector<CodecEntry>& codecs();

/// Creates the host codec of `spec`; missing options have their defaults. Throws ConfigError, with
/// the nearest name, if there is no codec of that name.
std::unique_ptr<Codec> make_host_codec(const CodecSpec& spec, const CodecKey& key);

/// True if the codec of `spec` is a contraction.
bool is_contraction(const CodecSpec& spec);

/// The option by which a configuration selects a codec: "name" or {"name": ..., options}.
OptionType<CodecSpec> codec_kind();

/// The entry of a codec with the given options. `is_contraction` tells whether the codec is a
/// contraction with some options; if it is empty, the codec always is.
template <class Options, class Make>
CodecEntry codec_entry(
    std::string name, std::string doc, FieldTable<Options> fields, Make make,
    std::type_identity_t<std::function<bool(const Options&)>> is_contraction = {}) {
  return {component<Codec, const CodecKey&>(std::move(name), std::move(doc), fields, make),
          [fields, is_contraction](const Json& resolved) {
            return !is_contraction || is_contraction(fields.parse(component_options(resolved), ""));
          }};
}

// Each codec file defines one of these functions; registry.cpp has the table.
CodecEntry minmax_uint8_codec_entry();
CodecEntry fp16_codec_entry();
CodecEntry bf16_codec_entry();
CodecEntry e3m0_codec_entry();
CodecEntry int4_codec_entry();
CodecEntry int2_codec_entry();
CodecEntry fp8_e4m3_codec_entry();
CodecEntry fp8_e5m2_codec_entry();
CodecEntry sign_codec_entry();
CodecEntry qsgd_codec_entry();
CodecEntry topk_codec_entry();
CodecEntry chunk_topk_codec_entry();
CodecEntry dct_topk_codec_entry();
CodecEntry randk_codec_entry();
CodecEntry powersgd_codec_entry();

}  // namespace trigram

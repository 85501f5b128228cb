#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "core/codecs/registry.h"

namespace trigram {

/// The entry of a codec with the given options. `contracts` tells whether the codec is a
/// contraction with some options; if it is empty, the codec always is.
template <class Options, class Make>
CodecEntry codec_entry(std::string name, std::string doc, FieldTable<Options> fields, Make make,
                       std::type_identity_t<std::function<bool(const Options&)>> contracts = {}) {
  return {component<Codec, const CodecKey&>(std::move(name), std::move(doc), fields, make),
          [fields, contracts](const Json& resolved) {
            return !contracts || contracts(fields.parse(component_options(resolved), ""));
          }};
}

// Each codec file defines one of these functions; registry.cpp has the table.
CodecEntry minmax_uint8_codec_entry();
CodecEntry fp16_codec_entry();
CodecEntry bf16_codec_entry();
CodecEntry sign_codec_entry();
CodecEntry qsgd_codec_entry();
CodecEntry topk_codec_entry();
CodecEntry randk_codec_entry();
CodecEntry powersgd_codec_entry();

}  // namespace trigram

#include "core/codecs/registry.h"

namespace trigram {

const std::vector<CodecEntry>& codecs() {
  static const std::vector<CodecEntry> entries = {
      minmax_uint8_codec_entry(), fp16_codec_entry(),     bf16_codec_entry(),
      fp8_e4m3_codec_entry(),     fp8_e5m2_codec_entry(), e3m0_codec_entry(),
      int4_codec_entry(),         int2_codec_entry(),     sign_codec_entry(),
      qsgd_codec_entry(),         topk_codec_entry(),     chunk_topk_codec_entry(),
      dct_topk_codec_entry(),     randk_codec_entry(),    powersgd_codec_entry(),
  };
  return entries;
}

std::unique_ptr<Codec> make_host_codec(const CodecSpec& spec, const CodecKey& key) {
  const CodecEntry& entry = find_component(codecs(), "codec", Json(spec.name), "/codec");
  return entry.make(spec.options, key);  // `make` fills in defaults
}

bool is_contraction(const CodecSpec& spec) {
  const CodecEntry& entry = find_component(codecs(), "codec", Json(spec.name), "/codec");
  return entry.is_contraction(entry.resolve(spec.options, "/codec"));
}

OptionType<CodecSpec> codec_kind() { return component_kind<CodecSpec>(codecs(), "codec"); }

}  // namespace trigram

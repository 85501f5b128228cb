#pragma once

#include "core/codecs/registry.h"

namespace trigram {

// One function per codec file; the table is in registry.cpp.
CodecEntry minmax_uint8_codec_entry();
CodecEntry fp16_codec_entry();
CodecEntry bf16_codec_entry();
CodecEntry sign_codec_entry();
CodecEntry qsgd_codec_entry();
CodecEntry topk_codec_entry();
CodecEntry randk_codec_entry();
CodecEntry powersgd_codec_entry();

}  // namespace trigram

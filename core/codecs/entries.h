#pragma once

#include "core/codecs/registry.h"

namespace trigram {

// One function per codec file; the table is in registry.cpp.
CodecEntry minmax_uint8_entry();
CodecEntry fp16_entry();
CodecEntry bf16_entry();
CodecEntry sign_entry();
CodecEntry qsgd_entry();
CodecEntry topk_entry();
CodecEntry randk_entry();
CodecEntry powersgd_entry();

}  // namespace trigram

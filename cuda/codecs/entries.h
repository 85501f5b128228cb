#pragma once

#include "core/config/component.h"
#include "cuda/codecs/cuda_codec.h"

namespace trigram::cuda {

/// The inputs from which a codec is created: its resolved options, key, context and host codec.
struct CodecParts {
  const Json& options;
  const CodecKey& key;
  const CodecContext& context;
  std::shared_ptr<const Codec> host;
};

// Each codec file defines one of these functions; registry.cpp has the table.
std::unique_ptr<Codec> make_minmax_uint8(const CodecParts& parts);
std::unique_ptr<Codec> make_fp16(const CodecParts& parts);
std::unique_ptr<Codec> make_bf16(const CodecParts& parts);
std::unique_ptr<Codec> make_sign(const CodecParts& parts);
std::unique_ptr<Codec> make_qsgd(const CodecParts& parts);
std::unique_ptr<Codec> make_topk(const CodecParts& parts);
std::unique_ptr<Codec> make_randk(const CodecParts& parts);
std::unique_ptr<Codec> make_powersgd(const CodecParts& parts);

}  // namespace trigram::cuda

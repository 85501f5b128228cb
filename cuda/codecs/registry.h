#pragma once

#include "cuda/codecs/cuda_codec.h"

namespace trigram::cuda {

/// The codec of `spec` on a GPU: wires and values are those of the host's to the last bit, but for
/// what NaNs carry. Throws ConfigError, with the nearest name, when there is none of that name.
std::unique_ptr<Codec> make_cuda_codec(const CodecSpec& spec, const CodecKey& key,
                                       const CodecContext& context);

}  // namespace trigram::cuda

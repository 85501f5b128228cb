#pragma once

#include "cuda/codecs/cuda_codec.h"

namespace trigram::cuda {

/// The codec of `spec` on a GPU. Wires and values equal those of the host's codec to the last bit,
/// except for the payload of NaNs. Throws ConfigError, with the nearest name, if there is no codec
/// of that name.
std::unique_ptr<Codec> make_cuda_codec(const CodecSpec& spec, const CodecKey& key,
                                       const CodecContext& context);

}  // namespace trigram::cuda

#include "cuda/codecs/registry.h"

#include <map>

#include "core/check.h"
#include "core/codecs/registry.h"
#include "cuda/support/error.h"

namespace trigram::cuda {

Tensor CudaCodec::zeroed_scratch(std::size_t nbytes) const {
  const Tensor memory = scratch(nbytes);
  zero(memory, nbytes);
  return memory;
}

void CudaCodec::zero(const Tensor& memory, std::size_t nbytes) const {
  check(cudaMemsetAsync(memory.data(), 0, nbytes, stream()), "cudaMemsetAsync");
}

std::unique_ptr<Codec> make_cuda_codec(const CodecSpec& spec, const CodecKey& key,
                                       const CodecContext& context) {
  static const std::map<std::string, std::unique_ptr<Codec> (*)(const CodecParts&)> makers = {
      {"minmax_uint8", make_minmax_uint8},
      {"fp16", make_fp16},
      {"bf16", make_bf16},
      {"e3m0", make_e3m0},
      {"int4", make_int4},
      {"int2", make_int2},
      {"fp8_e4m3", make_fp8_e4m3},
      {"fp8_e5m2", make_fp8_e5m2},
      {"sign", make_sign},
      {"qsgd", make_qsgd},
      {"topk", make_topk},
      {"chunk_topk", make_chunk_topk},
      {"dct_topk", make_dct_topk},
      {"randk", make_randk},
      {"powersgd", make_powersgd},
  };
  const CodecEntry& entry = find_component(codecs(), "codec", Json(spec.name), "/codec");
  const auto maker = makers.find(entry.name);
  TRIGRAM_CHECK(maker != makers.end(), "the codec {} has no kernels", entry.name);
  const Json options = entry.resolve(spec.options, "/codec");
  return maker->second({options, key, context, entry.make(options, key)});
}

}  // namespace trigram::cuda

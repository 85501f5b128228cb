#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "core/codec.h"
#include "core/config/component.h"
#include "core/device.h"

namespace trigram::cuda {

/// The stream on which a codec's kernels run, and the device that provides scratch memory for it.
/// Both must outlive the codec.
struct CodecContext {
  Device& device;
  cudaStream_t stream;
};

inline float* floats(const Tensor& x) { return reinterpret_cast<float*>(x.data()); }

/// A codec on a GPU. Its wires have the same sizes as those of the host's codec with the same spec.
class CudaCodec : public Codec {
 public:
  CudaCodec(const CodecContext& context, std::shared_ptr<const Codec> host)
      : context_(context), host_(std::move(host)) {}
  std::size_t wire_bytes(std::size_t numel) const final { return host_->wire_bytes(numel); }
  std::size_t priced_bytes(std::size_t numel) const final { return host_->priced_bytes(numel); }
  CodecLaunches launches() const final { return host_->launches(); }

 protected:
  Device& device() const { return context_.device; }
  cudaStream_t stream() const { return context_.stream; }
  /// Uninitialised device memory for the work that is queued next. The caller may destroy the
  /// tensor after queueing: the memory is reused only when the stream has completed that work.
  Tensor scratch(std::size_t nbytes) const { return device().empty(nbytes, DType::u8); }
  Tensor zeroed_scratch(std::size_t nbytes) const;
  void zero(const Tensor& memory, std::size_t nbytes) const;

 private:
  CodecContext context_;
  std::shared_ptr<const Codec> host_;
};

/// The codec of `spec` on a GPU. Wires and values equal the host codec's to the last bit, except
/// for the payload of NaNs. Throws ConfigError, with the nearest name, if there is no codec
/// of that name.
std::unique_ptr<Codec> make_cuda_codec(const CodecSpec& spec, const CodecKey& key,
                                       const CodecContext& context);

/// The inputs from which a codec is created: its resolved options, key, context and host codec.
struct CodecParts {
  const Json& options;
  const CodecKey& key;
  const CodecContext& context;
  std::shared_ptr<const Codec> host;
};

// Each codec's source defines its function here; registry.cpp finds them by the codec's name.
std::unique_ptr<Codec> make_minmax_uint8(const CodecParts& parts);
std::unique_ptr<Codec> make_fp16(const CodecParts& parts);
std::unique_ptr<Codec> make_bf16(const CodecParts& parts);
std::unique_ptr<Codec> make_e3m0(const CodecParts& parts);
std::unique_ptr<Codec> make_int4(const CodecParts& parts);
std::unique_ptr<Codec> make_int2(const CodecParts& parts);
std::unique_ptr<Codec> make_fp8_e4m3(const CodecParts& parts);
std::unique_ptr<Codec> make_fp8_e5m2(const CodecParts& parts);
std::unique_ptr<Codec> make_sign(const CodecParts& parts);
std::unique_ptr<Codec> make_qsgd(const CodecParts& parts);
std::unique_ptr<Codec> make_topk(const CodecParts& parts);
std::unique_ptr<Codec> make_chunk_topk(const CodecParts& parts);
std::unique_ptr<Codec> make_dct_topk(const CodecParts& parts);
std::unique_ptr<Codec> make_randk(const CodecParts& parts);
std::unique_ptr<Codec> make_powersgd(const CodecParts& parts);

}  // namespace trigram::cuda

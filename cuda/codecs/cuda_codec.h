#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "core/codec.h"
#include "core/device.h"

namespace trigram::cuda {

/// Where the kernels of a codec run: on a stream, with room from the device that issues to it. Both
/// outlive the codec.
struct CodecContext {
  Device& device;
  cudaStream_t stream;
};

inline float* floats(const Tensor& x) { return reinterpret_cast<float*>(x.data()); }

/// A codec on a GPU, whose wires have the sizes of the host's codec of the same spec.
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
  /// Uninitialised device memory for what is queued next. Once its last handle is gone, others get
  /// it when the stream has come so far.
  Tensor scratch(std::size_t nbytes) const { return device().empty(nbytes, DType::u8); }
  Tensor zeroed_scratch(std::size_t nbytes) const;
  void zero(const Tensor& room, std::size_t nbytes) const;

 private:
  CodecContext context_;
  std::shared_ptr<const Codec> host_;
};

}  // namespace trigram::cuda

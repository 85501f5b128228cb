#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "core/device/host_device.h"
#include "core/random/philox.h"

namespace trigram::test {

/// The operations that are measured: encoding and decoding a bucket of 10 MiB of floats, cut into
/// the 16 chunks that 16 workers would exchange, and memcpy of the same floats for comparison.
class CodecSpeed {
 public:
  static constexpr std::size_t kElements = (10u << 20) / sizeof(float), kChunks = 16;

  explicit CodecSpeed(const CodecSpec& spec = {}) : codec_(device_.codec(spec)) {
    Philox random(1, 0, 0, Purpose::codec);
    for (float& x : bucket_.floats()) x = random.normal();
    device_.fill(decoded_, 0);
    for (std::size_t i = 0; i < kChunks; ++i) {
      wires_.push_back(codec_->empty_wire(device_, bucket_.part(i, kChunks)));
    }
    encode();
  }
  void copy() { std::memcpy(decoded_.data(), bucket_.data(), bucket_.nbytes()); }
  void encode() {
    for (std::size_t i = 0; i < kChunks; ++i) codec_->encode(wires_[i], bucket_.part(i, kChunks));
  }
  void decode() {
    for (std::size_t i = 0; i < kChunks; ++i) codec_->decode(decoded_.part(i, kChunks), wires_[i]);
  }

 private:
  HostDevice device_;
  std::unique_ptr<Codec> codec_;
  Tensor bucket_ = device_.empty(kElements), decoded_ = device_.empty(kElements);
  std::vector<Tensor> wires_;
};

}  // namespace trigram::test

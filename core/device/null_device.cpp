#include "core/device/null_device.h"

#include <limits>

#include "core/codecs/registry.h"

namespace trigram {
namespace {

class NullCodec final : public Codec {
 public:
  explicit NullCodec(std::unique_ptr<Codec> sizes) : sizes_(std::move(sizes)) {}
  std::size_t wire_bytes(std::size_t numel) const override { return sizes_->wire_bytes(numel); }
  std::size_t priced_bytes(std::size_t numel) const override { return sizes_->priced_bytes(numel); }
  CodecLaunches launches() const override { return sizes_->launches(); }
  void encode(const Tensor&, const Tensor&) override {}
  void decode(const Tensor&, const Tensor&) override {}
  void decode_mean(Device&, const Tensor&, std::span<const Tensor>) override {}

 private:
  std::unique_ptr<Codec> sizes_;
};

}  // namespace

double NullDevice::norm2(const Tensor&) { return std::numeric_limits<double>::quiet_NaN(); }

std::unique_ptr<Codec> NullDevice::codec(const CodecSpec& spec, const CodecKey& key) {
  return std::make_unique<NullCodec>(make_host_codec(spec, key));
}

}  // namespace trigram

#include "cuda/device/multi_tensor.h"

#include <vector>

#include "core/operands.h"

namespace trigram {

MultiTensor::MultiTensor(CudaDevice& device, std::span<const Operands> tensors)
    : device_(device), tensors_(tensors.begin(), tensors.end()) {
  std::vector<cuda::Piece> pieces;
  for (const Operands& t : tensors_) {
    require_equal_length(t.w, t.g);
    cuda::Parameters parameters{.w = floats(t.w), .g = floats(t.g), .n = t.w.numel()};
    states_ = t.states.size();
    TRIGRAM_CHECK(states_ == tensors_[0].states.size() && states_ <= kMostStates,
                  "{} states of a tensor, {} of another", states_, tensors_[0].states.size());
    for (std::size_t k = 0; k < states_; ++k) {
      require_equal_length(t.w, t.states[k]);
      parameters.states[k] = floats(t.states[k]);
    }
    if (parameters.n == 0) continue;
    pieces.push_back({parameters, pieces_.chunks});
    pieces_.chunks += cuda::chunks_of(parameters.n);
  }
  const auto bytes = std::as_bytes(std::span(pieces));
  table_ = device_.empty(bytes.size(), DType::u8);
  device_.upload(table_, bytes);
  pieces_.pieces = reinterpret_cast<const cuda::Piece*>(table_.data());
  pieces_.count = static_cast<unsigned>(pieces.size());
}

void MultiTensor::update(const UpdateRule& rule) const {
  const std::size_t needed = std::visit([](const auto& r) { return r.kStates.size(); }, rule);
  TRIGRAM_CHECK(tensors_.empty() || states_ >= needed, "{} tensors for the {} states of a rule",
                states_, needed);
  cuda::update(device_.stream(), rule, pieces_);
}

}  // namespace trigram

#include "cuda/device/multi_tensor.h"

#include <vector>

#include "core/operands.h"

namespace trigram {
namespace {

// Returns the address of the moment tensor for `w`; clears `all_present` if there is none.
float* moment(const Tensor& w, const Tensor& moment, bool& all_present) {
  if (moment.is_phantom()) {
    all_present = false;
    return nullptr;
  }
  require_equal_length(w, moment);
  return floats(moment);
}

}  // namespace

MultiTensor::MultiTensor(CudaDevice& device, std::span<const Operands> tensors)
    : device_(device), tensors_(tensors.begin(), tensors.end()) {
  std::vector<cuda::Piece> pieces;
  for (const Operands& t : tensors_) {
    require_equal_length(t.w, t.g);
    const cuda::Parameters parameters{floats(t.w), floats(t.g), moment(t.w, t.m, all_have_m_),
                                      moment(t.w, t.v, all_have_v_), t.w.numel()};
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

void MultiTensor::sgd(const SgdStep& step) const {
  TRIGRAM_CHECK(step.momentum == 0 || all_have_m_, "momentum without a tensor for it");
  cuda::sgd(device_.stream(), step, pieces_);
}

void MultiTensor::adam(const AdamStep& step) const {
  TRIGRAM_CHECK(all_have_m_ && all_have_v_, "Adam without tensors for its moments");
  cuda::adam(device_.stream(), step, pieces_);
}

}  // namespace trigram

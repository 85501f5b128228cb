#include "core/tensor.h"

#include "core/check.h"

namespace trigram {

Tensor Tensor::slice(std::size_t begin, std::size_t count, std::size_t priced_count) const {
  TRIGRAM_CHECK(begin + count <= numel_, "slice [{}, {}) of a tensor of {}", begin, begin + count,
                numel_);
  if (!storage_) return phantom(count, dtype_, priced_count);
  auto* at = storage_.get() + begin * size_of(dtype_);
  return {std::shared_ptr<std::byte>(storage_, at), count, dtype_, priced_count};
}

Tensor Tensor::slice(std::size_t begin, std::size_t count) const {
  TRIGRAM_CHECK(priced_numel_ == numel_,
                "a tensor of {} elements priced as {} must be cut with parts()", numel_,
                priced_numel_);
  return slice(begin, count, count);
}

Tensor Tensor::parts(std::size_t first, std::size_t last, std::size_t count) const {
  TRIGRAM_CHECK(first <= last && last <= count, "parts [{}, {}) of {}", first, last, count);
  auto cut = [count](std::size_t length, std::size_t i) { return length * i / count; };
  const std::size_t begin = cut(numel_, first);
  return slice(begin, cut(numel_, last) - begin,
               cut(priced_numel_, last) - cut(priced_numel_, first));
}

}  // namespace trigram

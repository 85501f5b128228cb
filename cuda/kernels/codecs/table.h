#pragma once

namespace trigram::cuda {

/// A list that a kernel gets as a parameter: short ones within it, longer ones in device memory.
template <class T, int kOwn>
struct Table {
  static constexpr int kCapacity = kOwn;
  T own[kOwn];
  const T* longer = nullptr;

  __device__ __forceinline__ const T& operator[](unsigned i) const {
    return longer ? longer[i] : own[i];
  }
};

}  // namespace trigram::cuda

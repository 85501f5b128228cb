#pragma once

namespace trigram::cuda {

/// A list as a kernel parameter. Short lists are stored in the table, longer lists in device
/// memory.
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

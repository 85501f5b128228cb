#pragma once

#include <nccl.h>

#include <stdexcept>
#include <string>

namespace trigram {

/// A call of NCCL that failed, or a communicator that did so between two calls.
class NcclError : public std::runtime_error {
 public:
  NcclError(const std::string& call, ncclResult_t code);
  ncclResult_t code() const { return code_; }

 private:
  ncclResult_t code_;
};

namespace cuda {

/// Throws NcclError, with the name of the `call` that returned it, unless `code` is success.
inline void check(ncclResult_t code, const char* call) {
  if (code != ncclSuccess) [[unlikely]]
    throw NcclError(call, code);
}

/// Throws NcclError when the library that is loaded is too old: headers and library may differ.
void check_nccl_version();

}  // namespace cuda
}  // namespace trigram

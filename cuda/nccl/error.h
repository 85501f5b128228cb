#pragma once

#include <nccl.h>

#include <stdexcept>
#include <string>

namespace trigram {

/// An NCCL call that failed, or a communicator that failed between two calls.
class NcclError : public std::runtime_error {
 public:
  NcclError(const std::string& call, ncclResult_t code);
};

namespace cuda {

/// Throws NcclError, which names `call`, unless `code` is success.
inline void check(ncclResult_t code, const char* call) {
  if (code != ncclSuccess) [[unlikely]]
    throw NcclError(call, code);
}

/// Throws NcclError if the loaded library is too old. Its version may differ from that of the
/// headers.
void check_nccl_version();

}  // namespace cuda
}  // namespace trigram

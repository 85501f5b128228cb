#pragma once

#include <stdexcept>
#include <string>

#include "cuda/net/nccl_types.h"

namespace trigram::net {

/// An error that the plugin returns to NCCL as `code`. The plugin logs the text, which is one line.
class NetError : public std::runtime_error {
 public:
  NetError(Result code, const std::string& text) : std::runtime_error(text), code_(code) {}
  Result code() const { return code_; }

 private:
  Result code_;
};

/// A NetError whose text is `what` and the reason of `error`, a value of errno.
NetError system_error(const std::string& what, int error);

}  // namespace trigram::net

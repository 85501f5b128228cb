#pragma once

#include <nvtx3/nvToolsExt.h>

#include <string>

namespace trigram::cuda {

/// Shows a profiler, such as Nsight Systems, what the host thread does while this object exists.
class Range {
 public:
  Range(const char* what, const std::string& stream) {
    nvtxRangePushA((std::string(what) + " on " + stream).c_str());
  }
  ~Range() { nvtxRangePop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace trigram::cuda

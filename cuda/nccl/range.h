#pragma once

#include <nvtx3/nvToolsExt.h>

#include <string>

namespace trigram::cuda {

/// Names what the host thread does while the object exists, for a profiler such as Nsight Systems.
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

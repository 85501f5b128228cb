#pragma once

#include <nvtx3/nvToolsExt.h>

#include <string>

namespace trigram::cuda {

/// Shows a profiler, such as Nsight Systems, what the host thread does while this object exists.
class ProfilerRange {
 public:
  ProfilerRange(const char* what, const std::string& stream) {
    nvtxRangePushA((std::string(what) + " on " + stream).c_str());
  }
  ~ProfilerRange() { nvtxRangePop(); }
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
};

}  // namespace trigram::cuda

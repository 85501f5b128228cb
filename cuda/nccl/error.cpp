#include "cuda/nccl/error.h"

#include <fmt/format.h>

namespace trigram {
namespace {

// The first version that has ncclCommInitRankConfig and ncclCommAbort in the form that is used
// here.
constexpr int kOldest = 21800;
static_assert(NCCL_VERSION_CODE >= kOldest, "NCCL 2.18 or newer is needed");

std::string version_text(int code) {
  return fmt::format("{}.{}.{}", code / 10000, code / 100 % 100, code % 100);
}

}  // namespace

NcclError::NcclError(const std::string& call, ncclResult_t code)
    : std::runtime_error(fmt::format("{}: {} ({}); NCCL_DEBUG=WARN tells more", call,
                                     ncclGetErrorString(code), static_cast<int>(code))) {}

namespace cuda {

void check_nccl_version() {
  int version = 0;
  check(ncclGetVersion(&version), "ncclGetVersion");
  if (version >= kOldest) return;
  throw NcclError(fmt::format("NCCL {} is loaded, but {} or newer is needed", version_text(version),
                              version_text(kOldest)),
                  ncclInvalidUsage);
}

}  // namespace cuda
}  // namespace trigram

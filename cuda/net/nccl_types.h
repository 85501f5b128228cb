#pragma once

#include <cstddef>
#include <cstdint>

/// The types that all versions of NCCL's interface of network plugins share. They have the layout
/// and the values of `ext-net/example/nccl/{err,common,net,net_device}.h` in NVIDIA/nccl v2.28.9;
/// the names are this project's.
namespace trigram::net {

/// ncclResult_t. `kInvalidUsage` is missing in the header for plugins, but NCCL itself defines it
/// (nccl.h).
enum Result : int {
  kSuccess = 0,
  kSystemError = 2,
  kInternalError = 3,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemoteError = 6,
};

enum LogLevel : int { kLogWarn = 2, kLogInfo = 3 };
constexpr unsigned long kLogNet = 16;
constexpr unsigned long kLogAll = ~0UL;

/// ncclDebugLogger_t; `format` and the arguments after it are as for printf.
using Logger = void (*)(LogLevel level, unsigned long subsystems, const char* file, int line,
                        const char* format, ...);

/// ncclProfilerCallback_t, which this plugin does not call.
using ProfilerCallback = Result (*)(void** event, int type, void* parent, std::int64_t plugin,
                                    void* data);

constexpr int kPtrHost = 1;            // NCCL_PTR_HOST: buffers lie in host memory
constexpr int kMaxHandleBytes = 128;   // NCCL_NET_HANDLE_MAXSIZE
constexpr int kMaxRequests = 32;       // NCCL_NET_MAX_REQUESTS, per connection
constexpr int kMaxDevicesPerNic = 4;   // NCCL_NET_MAX_DEVS_PER_NIC
constexpr int kDeviceTypeHost = 0;     // NCCL_NET_DEVICE_HOST: no network code runs on the GPU
constexpr int kDeviceVersionNone = 0;  // NCCL_NET_DEVICE_INVALID_VERSION

/// ncclNetDeviceHandle_v8_t and _v11_t, which only networks with code on the GPU fill in.
struct DeviceHandle;

}  // namespace trigram::net

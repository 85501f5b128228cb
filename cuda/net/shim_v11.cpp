#include <climits>

#include "cuda/net/nccl_net_v11.h"
#include "cuda/net/plugin.h"

namespace trigram::net::v11 {
namespace {

/// test() returns sizes as int, so NCCL must split longer messages.
constexpr std::size_t kMaxMessageBytes = INT_MAX;

Result init_context(void** context, std::uint64_t, CommConfig*, Logger logger, ProfilerCallback) {
  *context = nullptr;
  return plugin::init(logger);
}

Result properties_of(int index, Properties* properties) {
  Result result = kSuccess;
  const Device* device = plugin::device(index, result);
  if (!device) return result;
  plugin::describe(*device, index, *properties);
  properties->virtual_device = {1, {index}};
  properties->max_p2p_bytes = kMaxMessageBytes;
  properties->max_collective_bytes = kMaxMessageBytes;
  properties->max_multi_request_size = 1;
  return kSuccess;
}

Result listen_in(void*, int device, void* handle, void** comm) {
  return plugin::listen(device, handle, comm);
}

Result connect_in(void*, int device, void* handle, void** comm, DeviceHandle** device_handle) {
  return plugin::connect(device, handle, comm, device_handle);
}

Result isend_long(void* comm, void* data, std::size_t size, int, void*, void*, void** request) {
  return plugin::isend(comm, data, size, request);
}

Result irecv_long(void* comm, int n, void** data, std::size_t* sizes, int*, void**, void**,
                  void** request) {
  return plugin::irecv(comm, n, data, sizes[0], request);
}

Result finalize_context(void*) { return plugin::finalize(); }

}  // namespace

extern "C" {
extern const Net ncclNetPlugin_v11 __attribute__((visibility("default")));
const Net ncclNetPlugin_v11 = {
    .name = plugin::kName,
    .init = init_context,
    .devices = plugin::devices,
    .get_properties = properties_of,
    .listen = listen_in,
    .connect = connect_in,
    .accept = plugin::accept,
    .reg_mr = plugin::reg_mr,
    .reg_mr_dma_buf = nullptr,
    .dereg_mr = plugin::dereg_mr,
    .isend = isend_long,
    .irecv = irecv_long,
    .iflush = plugin::iflush,
    .test = plugin::test,
    .close_send = plugin::close_send,
    .close_recv = plugin::close_recv,
    .close_listen = plugin::close_listen,
    .get_device_mr = nullptr,
    .irecv_consumed = nullptr,
    .make_virtual_device = nullptr,
    .finalize = finalize_context,
    .set_net_attributes = nullptr,
};
}

}  // namespace trigram::net::v11

#include "cuda/net/nccl_net_v8.h"
#include "cuda/net/plugin.h"

namespace trigram::net::v8 {
namespace {

Result properties_of(int index, Properties* properties) {
  Result result = kSuccess;
  if (const Device* device = plugin::device(index, result))
    plugin::describe(*device, index, *properties);
  return result;
}

Result isend_short(void* comm, void* data, int size, int, void*, void** request) {
  return plugin::isend(comm, data, static_cast<std::size_t>(size), request);
}

Result irecv_short(void* comm, int n, void** data, int* sizes, int*, void**, void** request) {
  return plugin::irecv(comm, n, data, static_cast<std::size_t>(sizes[0]), request);
}

}  // namespace

extern "C" {
extern const Net ncclNetPlugin_v8 __attribute__((visibility("default")));
const Net ncclNetPlugin_v8 = {
    .name = plugin::kName,
    .init = plugin::init,
    .devices = plugin::devices,
    .get_properties = properties_of,
    .listen = plugin::listen,
    .connect = plugin::connect,
    .accept = plugin::accept,
    .reg_mr = plugin::reg_mr,
    .reg_mr_dma_buf = nullptr,
    .dereg_mr = plugin::dereg_mr,
    .isend = isend_short,
    .irecv = irecv_short,
    .iflush = plugin::iflush,
    .test = plugin::test,
    .close_send = plugin::close_send,
    .close_recv = plugin::close_recv,
    .close_listen = plugin::close_listen,
    .get_device_mr = nullptr,
    .irecv_consumed = nullptr,
};
}

}  // namespace trigram::net::v8

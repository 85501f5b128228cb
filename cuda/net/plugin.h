#pragma once

#include "cuda/net/devices.h"
#include "cuda/net/nccl_types.h"

/// The plugin behind all versions of the interface. NCCL calls these functions in the form that
/// most versions share; the shims adapt the other versions. The functions return errors as NCCL's
/// codes and write one line per error to NCCL's log. No function blocks. Calls for one connection
/// must not overlap.
namespace trigram::net::plugin {

constexpr const char* kName = "trigram";  // for NCCL_NET

/// The first call reads the settings and finds the devices. NCCL may call this once per
/// communicator.
Result init(Logger logger);
/// Writes the report, if TRIGRAM_NET_REPORT names a file. It is also written whenever the last
/// connection is closed, because version 8 of the interface has no such function.
Result finalize();

Result devices(int* count);
/// The device with this index. If there is none, returns null and sets `result` to the reason.
const Device* device(int index, Result& result);

Result listen(int device, void* handle, void** listen_comm);
/// Sets *send_comm to null until the connection is established; NCCL then calls again with the same
/// handle.
Result connect(int device, void* handle, void** send_comm, DeviceHandle** device_handle);
/// Sets *recv_comm to null until a connection is established.
Result accept(void* listen_comm, void** recv_comm, DeviceHandle** device_handle);

Result reg_mr(void* comm, void* data, std::size_t size, int type, void** mhandle);
Result dereg_mr(void* comm, void* mhandle);

/// Set *request to null if kMaxRequests messages are in progress.
Result isend(void* send_comm, void* data, std::size_t size, void** request);
Result irecv(void* recv_comm, int n, void** data, std::size_t size, void** request);
/// Nothing to do: messages are received into host memory.
Result iflush(void* recv_comm, int n, void** data, int* sizes, void** mhandles, void** request);
/// `sizes` may be null.
Result test(void* request, int* done, int* sizes);

Result close_send(void* send_comm);
Result close_recv(void* recv_comm);
Result close_listen(void* listen_comm);

/// Fills in the properties that all versions have.
template <class Properties>
void describe(const Device& device, int index, Properties& properties) {
  properties = {};
  properties.name = const_cast<char*>(device.name.c_str());
  properties.pci_path =
      device.pci_path.empty() ? nullptr : const_cast<char*>(device.pci_path.c_str());
  properties.guid = static_cast<std::uint64_t>(index);
  properties.ptr_support = kPtrHost;
  properties.speed_Mbps = device.speed_Mbps;
  properties.max_comms = 65536;
  properties.max_recvs = 1;
  properties.device_type = kDeviceTypeHost;
  properties.device_version = kDeviceVersionNone;
}

}  // namespace trigram::net::plugin

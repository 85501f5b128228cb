#pragma once

#include "cuda/net/nccl_types.h"

/// Version 11 of the interface of NCCL's network plugins, with the layout of
/// `ext-net/example/nccl/net_v11.h` in NVIDIA/nccl v2.28.9. NCCL 2.28 and newer look for the symbol
/// `ncclNetPlugin_v11`.
namespace trigram::net::v11 {

struct VirtualDevice {  // ncclNetVDeviceProps_v11_t: the physical devices of a virtual one
  int ndevs;
  int devs[kMaxDevicesPerNic];
};

struct CommConfig {  // ncclNetCommConfig_v11_t
  int traffic_class;
};

struct Properties {  // ncclNetProperties_v11_t
  char* name;
  char* pci_path;
  std::uint64_t guid;
  int ptr_support;
  int reg_is_global;
  int force_flush;
  int speed_Mbps;
  int port;
  float latency_us;
  int max_comms;
  int max_recvs;
  int device_type;
  int device_version;
  VirtualDevice virtual_device;
  std::size_t max_p2p_bytes;
  std::size_t max_collective_bytes;
  int max_multi_request_size;
};

struct NetAttributes;  // ncclNetAttr_v11_t: hints about the traffic to expect

struct Net {  // ncclNet_v11_t
  const char* name;
  Result (*init)(void** context, std::uint64_t comm_id, CommConfig* config, Logger logger,
                 ProfilerCallback profiler);
  Result (*devices)(int* count);
  Result (*get_properties)(int device, Properties* properties);
  Result (*listen)(void* context, int device, void* handle, void** listen_comm);
  Result (*connect)(void* context, int device, void* handle, void** send_comm,
                    DeviceHandle** device_handle);
  Result (*accept)(void* listen_comm, void** recv_comm, DeviceHandle** device_handle);
  Result (*reg_mr)(void* comm, void* data, std::size_t size, int type, void** mhandle);
  Result (*reg_mr_dma_buf)(void* comm, void* data, std::size_t size, int type, std::uint64_t offset,
                           int fd, void** mhandle);
  Result (*dereg_mr)(void* comm, void* mhandle);
  Result (*isend)(void* send_comm, void* data, std::size_t size, int tag, void* mhandle,
                  void* phandle, void** request);
  Result (*irecv)(void* recv_comm, int n, void** data, std::size_t* sizes, int* tags,
                  void** mhandles, void** phandles, void** request);
  Result (*iflush)(void* recv_comm, int n, void** data, int* sizes, void** mhandles,
                   void** request);
  Result (*test)(void* request, int* done, int* sizes);
  Result (*close_send)(void* send_comm);
  Result (*close_recv)(void* recv_comm);
  Result (*close_listen)(void* listen_comm);
  Result (*get_device_mr)(void* comm, void* mhandle, void** device_mhandle);
  Result (*irecv_consumed)(void* recv_comm, int n, void* request);
  Result (*make_virtual_device)(int* device, VirtualDevice* properties);
  Result (*finalize)(void* context);
  Result (*set_net_attributes)(void* context, NetAttributes* attributes);
};

static_assert(sizeof(Net) == 176);
static_assert(sizeof(Properties) == 112);

}  // namespace trigram::net::v11

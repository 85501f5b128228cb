#pragma once

#include <string>
#include <vector>

#include "cuda/net/settings.h"
#include "cuda/net/socket.h"

namespace trigram::net {

/// A network interface that is up, with the address at which it listens.
struct Device {
  std::string name;
  std::string pci_path;  // in /sys; empty for virtual interfaces
  Address address;
  int speed_Mbps;  // 10,000 if unknown, as NCCL assumes
  unsigned index;  // the kernel's number of the interface
};

/// True if `choice`, a value of NCCL_SOCKET_IFNAME, selects the interface. A choice is a list of
/// prefixes or, after `=`, of whole names. After `^`, it selects all other interfaces.
bool selects(std::string_view choice, const std::string& name);

/// The interfaces that the settings choose, each with its first address. Without NCCL_SOCKET_IFNAME
/// they are, as in NCCL, those named ib*; if there are none, all but docker* and lo; then docker*;
/// then lo. The loopback address ::1 is used only if NCCL_SOCKET_IFNAME selects it by name. Throws
/// NetError if no interface is left.
std::vector<Device> find_devices(const Settings& settings);

}  // namespace trigram::net

#include "cuda/net/devices.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "cuda/net/error.h"

namespace trigram::net {
namespace {

constexpr int kUnknownSpeed_Mbps = 10'000;

using Interfaces = std::unique_ptr<ifaddrs, decltype(&freeifaddrs)>;

Interfaces interfaces_of_this_host() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) throw system_error("cannot list the network interfaces", errno);
  return {first, &freeifaddrs};
}

int speed_of(const std::string& name) {
  std::ifstream file("/sys/class/net/" + name + "/speed");
  int speed = 0;
  return file >> speed && speed > 0 ? speed : kUnknownSpeed_Mbps;
}

std::string pci_path_of(const std::string& name) {
  std::error_code error;
  const auto path = std::filesystem::canonical("/sys/class/net/" + name + "/device", error);
  return error ? "" : path.string();
}

bool usable(const ifaddrs& entry, int family, std::string_view choice) {
  if (!entry.ifa_addr || !(entry.ifa_flags & IFF_UP) || !(entry.ifa_flags & IFF_RUNNING))
    return false;
  const int own = entry.ifa_addr->sa_family;
  if ((own != AF_INET && own != AF_INET6) || (family != 0 && own != family)) return false;
  const bool named = !choice.empty() && choice.front() != '^';
  if (own == AF_INET6 && !named &&
      IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(entry.ifa_addr)->sin6_addr))
    return false;
  return selects(choice, entry.ifa_name);
}

std::vector<Device> devices_of(const ifaddrs* first, int family, std::string_view choice) {
  std::vector<Device> found;
  for (const ifaddrs* entry = first; entry; entry = entry->ifa_next) {
    if (!usable(*entry, family, choice)) continue;
    const std::string name = entry->ifa_name;
    if (std::any_of(found.begin(), found.end(),
                    [&](const Device& device) { return device.name == name; }))
      continue;
    Device device{name, pci_path_of(name), {}, speed_of(name), if_nametoindex(name.c_str())};
    device.address.generic.sa_family = entry->ifa_addr->sa_family;
    std::memcpy(&device.address, entry->ifa_addr, device.address.size());
    found.push_back(device);
  }
  return found;
}

}  // namespace

bool selects(std::string_view choice, const std::string& name) {
  const bool others = choice.starts_with('^');
  if (others) choice.remove_prefix(1);
  const bool exact = choice.starts_with('=');
  if (exact) choice.remove_prefix(1);
  bool listed = choice.empty();
  while (!choice.empty()) {
    const std::string_view word = choice.substr(0, choice.find(','));
    choice.remove_prefix(std::min(choice.size(), word.size() + 1));
    listed = listed || (exact ? name == word : !word.empty() && name.starts_with(word));
  }
  return listed != others;
}

std::vector<Device> find_devices(const Settings& settings) {
  const Interfaces all = interfaces_of_this_host();
  if (!settings.interfaces.empty()) {
    auto found = devices_of(all.get(), settings.family, settings.interfaces);
    if (!found.empty()) return found;
    throw NetError(
        kInvalidUsage,
        fmt::format("NCCL_SOCKET_IFNAME is \"{}\": it selects no interface that is up and "
                    "has an address of the family that NCCL_SOCKET_FAMILY names",
                    settings.interfaces));
  }
  for (const char* choice : {"ib", "^docker,lo", "docker", "lo"})
    if (auto found = devices_of(all.get(), settings.family, choice); !found.empty()) return found;
  throw NetError(kSystemError, "no network interface is up");
}

}  // namespace trigram::net

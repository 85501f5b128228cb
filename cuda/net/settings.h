#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace trigram::net {

constexpr int kMaxStreams = 64;

/// The value of an environment variable; null if it is not set.
using Environment = std::function<const char*(const char* name)>;

/// The options of the plugin, which come from environment variables (docs/nccl-plugin.md).
struct Settings {
  std::string secret;  // TRIGRAM_NET_SECRET; empty only with TRIGRAM_NET_ALLOW_NO_SECRET=1
  int streams = 8;     // TRIGRAM_NET_STREAMS: TCP connections (sockets) per connection of NCCL
  // TRIGRAM_NET_TIMEOUT: the limit of connect and accept, and of the silence of a peer.
  std::chrono::seconds timeout{60};
  std::string report;      // TRIGRAM_NET_REPORT: the file of counters; empty: none
  std::string interfaces;  // NCCL_SOCKET_IFNAME; empty: chosen by NCCL's order
  int family = 0;          // NCCL_SOCKET_FAMILY as AF_INET or AF_INET6; 0: either

  /// Throws NetError, which names the variable, its value and what was expected.
  static Settings from(const Environment& environment);
};

/// `pattern` with {pid} replaced by the process id, and {rank} by the launcher's rank
/// (OMPI_COMM_WORLD_RANK, SLURM_PROCID, PMI_RANK or RANK) or, without one, by the process id.
std::string report_path(std::string pattern, const Environment& environment, int pid);

}  // namespace trigram::net

#include "cuda/net/counters.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cuda/net/error.h"

namespace trigram::net {
namespace {

nlohmann::ordered_json json_of(const Traffic& traffic) {
  return {{"bytes", traffic.bytes.load()},
          {"messages", traffic.messages.load()},
          {"slices", traffic.slices.load()},
          {"busy_s", static_cast<double>(traffic.busy_ns.load()) * 1e-9}};
}

}  // namespace

std::string report_of(const Counters& counters) {
  const nlohmann::ordered_json report = {{"plugin", "trigram"},
                                         {"pid", getpid()},
                                         {"sent", json_of(counters.sent)},
                                         {"received", json_of(counters.received)},
                                         {"connections", counters.connected.load()},
                                         {"failed", counters.failed.load()},
                                         {"refused", counters.refused.load()}};
  return report.dump(2) + "\n";
}

void write_report(const Counters& counters, const std::string& path) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  std::ofstream file(temporary);
  if (!(file << report_of(counters)) || !file.flush())
    throw system_error("TRIGRAM_NET_REPORT: cannot write " + temporary, errno);
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error)
    throw NetError(kSystemError,
                   fmt::format("TRIGRAM_NET_REPORT: cannot write {}: {}", path, error.message()));
}

}  // namespace trigram::net

#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace trigram::net {

/// Totals of one direction over all connections of this process.
struct Traffic {
  std::atomic<std::uint64_t> bytes{0};  // of messages, without the headers of slices
  std::atomic<std::uint64_t> messages{0};
  std::atomic<std::uint64_t> slices{0};
  // Time in which a connection had requests in progress, summed over connections.
  std::atomic<std::int64_t> busy_ns{0};
};

/// The counters of the plugin in this process. Traffic counts only messages that are done.
struct Counters {
  Traffic sent, received;
  std::atomic<std::uint64_t> connected{0};  // connections made and accepted
  std::atomic<std::uint64_t> failed{0};     // connections that ended with an error
  std::atomic<std::uint64_t> refused{0};    // clients that did not prove the job's secret
};

/// The counters as JSON.
std::string report_of(const Counters& counters);

/// Replaces the file at `path` by the report. Throws NetError.
void write_report(const Counters& counters, const std::string& path);

}  // namespace trigram::net

#include "cuda/net/settings.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <charconv>

#include "cuda/net/error.h"

namespace trigram::net {
namespace {

std::string text_of(const Environment& environment, const char* name) {
  const char* value = environment(name);
  return value ? value : "";
}

[[noreturn]] void refuse_value(const char* name, std::string_view value,
                               std::string_view expected) {
  throw NetError(kInvalidArgument, fmt::format("{} is \"{}\": expected {}", name, value, expected));
}

int integer_of(const Environment& environment, const char* name, int otherwise, int most) {
  const std::string text = text_of(environment, name);
  if (text.empty()) return otherwise;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > most)
    refuse_value(name, text, fmt::format("an integer from 1 to {}", most));
  return value;
}

int family_of(const Environment& environment) {
  const std::string text = text_of(environment, "NCCL_SOCKET_FAMILY");
  if (text.empty()) return 0;
  if (text == "AF_INET") return AF_INET;
  if (text == "AF_INET6") return AF_INET6;
  refuse_value("NCCL_SOCKET_FAMILY", text, "AF_INET or AF_INET6");
}

void replace_all(std::string& text, std::string_view from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace

Settings Settings::from(const Environment& environment) {
  Settings settings;
  settings.secret = text_of(environment, "TRIGRAM_NET_SECRET");
  if (settings.secret.empty() && text_of(environment, "TRIGRAM_NET_ALLOW_NO_SECRET") != "1")
    throw NetError(
        kInvalidUsage,
        "TRIGRAM_NET_SECRET is not set: give all ranks of the job the same secret, for example of "
        "`openssl rand -hex 32`, or set TRIGRAM_NET_ALLOW_NO_SECRET=1");
  settings.streams = integer_of(environment, "TRIGRAM_NET_STREAMS", settings.streams, kMaxStreams);
  settings.timeout = std::chrono::seconds(integer_of(
      environment, "TRIGRAM_NET_TIMEOUT", static_cast<int>(settings.timeout.count()), 86400));
  settings.report = text_of(environment, "TRIGRAM_NET_REPORT");
  settings.interfaces = text_of(environment, "NCCL_SOCKET_IFNAME");
  settings.family = family_of(environment);
  return settings;
}

std::string report_path(std::string pattern, const Environment& environment, int pid) {
  std::string rank = std::to_string(pid);
  for (const char* name : {"RANK", "PMI_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"})
    if (const char* value = environment(name)) rank = value;
  replace_all(pattern, "{pid}", std::to_string(pid));
  replace_all(pattern, "{rank}", rank);
  return pattern;
}

}  // namespace trigram::net

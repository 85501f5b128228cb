#include "core/logging/rank_log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace trigram::rank_log {
namespace {

std::shared_ptr<spdlog::logger>& log() {
  static std::shared_ptr<spdlog::logger> opened;
  return opened;
}

}  // namespace

void open(const std::filesystem::path& file) {
  auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.string());
  log() = std::make_shared<spdlog::logger>("rank", sink);
  log()->flush_on(spdlog::level::trace);
  log()->set_pattern("%Y-%m-%dT%H:%M:%S.%f %l: %v");
  spdlog::default_logger()->sinks().push_back(sink);
  spdlog::default_logger()->flush_on(spdlog::level::trace);
}

bool is_open() { return log() != nullptr; }

void write(std::string_view line) {
  if (is_open()) log()->info("{}", line);
}

}  // namespace trigram::rank_log

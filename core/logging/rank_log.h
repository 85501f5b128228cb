#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace trigram {

/// The log file of one process of a job, for details that would be lost in the output that all
/// processes share. Text written before `open` is dropped. Any thread may write after `open` has
/// returned; `open` must not run concurrently with the other functions. A line has reached the
/// operating system when the call returns, so that it survives any end of the process.
namespace rank_log {

/// Opens the log, which appends to `file`. spdlog's default logger writes to it too, independently
/// of the levels of its other sinks. Throws std::runtime_error if the file cannot be written.
void open(const std::filesystem::path& file);
bool is_open();
void write(std::string_view line);

/// Formats its arguments only if the log is open.
template <class... Args>
void print(fmt::format_string<Args...> text, Args&&... args) {
  if (is_open()) write(fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace rank_log
}  // namespace trigram

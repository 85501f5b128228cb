#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace trigram {

/// The log of one process of a job: what would drown in the output that all processes share. Until
/// it is opened, what is written to it is dropped. Any thread may write; every line is with the
/// operating system when the call returns, so that it survives the process, however that ends.
namespace rank_log {

/// Appends to `file` from now on, and so does spdlog's default logger, whatever it shows elsewhere.
/// Throws std::runtime_error where the file cannot be written.
void open(const std::filesystem::path& file);
bool is_open();
void write(std::string_view line);

/// Formats its arguments only where the log is open.
template <class... Args>
void print(fmt::format_string<Args...> text, Args&&... args) {
  if (is_open()) write(fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace rank_log
}  // namespace trigram

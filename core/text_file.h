#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace trigram {

/// In bytes. No valid description, profile or manifest is this long.
inline constexpr std::size_t kLongestText = std::size_t{64} << 20;

/// The content of a regular file or of an anonymous pipe, such as /dev/stdin. Refuses devices and
/// named pipes, which may never end, and files longer than kLongestText. Throws std::runtime_error,
/// whose message does not name the file.
std::string read_text_file(const std::filesystem::path& path);

}  // namespace trigram

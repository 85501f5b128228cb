#pragma once

#include <filesystem>
#include <string_view>

namespace trigram {

// Writes that survive a crash of the machine. All functions throw
// std::filesystem::filesystem_error.

/// Writes a whole file and waits until it is on disk.
void write_durably(const std::filesystem::path& path, std::string_view content);
/// The same, but `path` has its old content or all of the new content at any time.
void replace_file(const std::filesystem::path& path, std::string_view content);
/// Waits until the file's content, or the folder's entries, are on disk.
void sync_to_disk(const std::filesystem::path& path);
/// Renames the folder `from` to `to`. If `to` exists, exchanges the two, atomically if the file
/// system can, so that `to` is complete at any time. Then removes the old folder.
void replace_folder(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace trigram

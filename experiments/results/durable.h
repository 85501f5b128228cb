#pragma once

#include <filesystem>
#include <string_view>

namespace trigram {

// Writing that survives a crash of the machine. All throw std::filesystem::filesystem_error.

/// Writes a whole file and waits until it is on the disk.
void write_durably(const std::filesystem::path& path, std::string_view content);
/// Waits until the file's content, or the folder's entries, are on the disk.
void sync_to_disk(const std::filesystem::path& path);
/// Renames the folder `from` to `to`; a folder already there is exchanged with it in one step,
/// where the file system can, so that at every moment a whole folder is there, and then removed.
void replace_folder(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace trigram

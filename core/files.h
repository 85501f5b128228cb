#pragma once

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <string>

namespace trigram {

/// Owns a POSIX file descriptor, and closes it.
class FileDescriptor {
 public:
  /// `fd` may be -1, the result of a failed call; there is then nothing to close.
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

/// The folder of the data files that come with the program (it contains `configs/`). This is the
/// folder named by $TRIGRAM_DATA_DIR. If that is unset, it is `../share/trigram` relative to the
/// folder of the running executable, where `cmake --install` puts it. If that does not exist, it is
/// the fallback folder.
std::filesystem::path data_dir();

/// Sets the fallback folder, which is the source tree by default. A program that was built
/// elsewhere calls this at start-up.
void set_fallback_data_dir(std::filesystem::path folder);

/// data_dir() without the environment variable, for an executable at this path.
std::filesystem::path data_dir_of(const std::filesystem::path& executable);

/// The longest text file that is read, in bytes. No valid description, profile or manifest is so
/// long.
inline constexpr std::size_t kLongestText = std::size_t{64} << 20;

/// The content of a regular file or of an anonymous pipe, such as /dev/stdin. Throws
/// std::runtime_error, whose message does not name the file, if it cannot be read, is longer than
/// kLongestText, or is a device or named pipe, which may never end.
std::string read_text_file(const std::filesystem::path& path);

}  // namespace trigram

#include "core/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace trigram {
namespace {

std::filesystem::path& fallback() {
  static std::filesystem::path folder = TRIGRAM_SOURCE_DIR;
  return folder;
}

}  // namespace

void set_fallback_data_dir(std::filesystem::path folder) { fallback() = std::move(folder); }

std::filesystem::path data_dir() {
  if (const char* named = std::getenv("TRIGRAM_DATA_DIR"); named && *named) return named;
  std::error_code ignored;
  return data_dir_of(std::filesystem::read_symlink("/proc/self/exe", ignored));
}

std::filesystem::path data_dir_of(const std::filesystem::path& executable) {
  std::error_code ignored;
  const auto installed = executable.parent_path().parent_path() / "share" / "trigram";
  if (std::filesystem::is_directory(installed / "configs", ignored)) return installed;
  return fallback();
}

namespace {

[[noreturn]] void refuse(int error) {
  throw std::runtime_error(std::string("expected a readable file: ") + std::strerror(error));
}

/// Anonymous pipes are in pipefs; named pipes are in the file system of their folder.
bool is_anonymous_pipe(int fd) {
  struct statfs where {};
  return fstatfs(fd, &where) == 0 && where.f_type == PIPEFS_MAGIC;
}

void check_type(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) refuse(errno);
  if (S_ISDIR(status.st_mode)) refuse(EISDIR);
  if (!S_ISREG(status.st_mode) && !(S_ISFIFO(status.st_mode) && is_anonymous_pipe(fd)))
    throw std::runtime_error(
        "expected a regular file or an anonymous pipe, not a device, a named pipe or a socket");
}

}  // namespace

std::string read_text_file(const std::filesystem::path& path) {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0) refuse(errno);
  check_type(file.get());
  fcntl(file.get(), F_SETFL, fcntl(file.get(), F_GETFL) & ~O_NONBLOCK);
  std::string text;
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    const ssize_t got = read(file.get(), text.data() + before, kPiece);
    if (got < 0 && errno != EINTR) refuse(errno);
    text.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got == 0) return text;
    if (text.size() > kLongestText)
      throw std::runtime_error(
          fmt::format("expected a file of at most {} MiB", kLongestText >> 20));
  }
}

}  // namespace trigram

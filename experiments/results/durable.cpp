#include "experiments/results/durable.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/files.h"

namespace trigram {
namespace {

using Path = std::filesystem::path;

[[noreturn]] void throw_system_error(const char* what, const Path& path) {
  throw std::filesystem::filesystem_error(what, path,
                                          std::error_code(errno, std::generic_category()));
}

FileDescriptor open_file(const Path& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (fd < 0) throw_system_error("cannot open", path);
  return FileDescriptor(fd);
}

/// Replaces a folder on file systems without an atomic exchange, such as NFS. Between the two steps
/// `to` does not exist, but it is never incomplete.
void replace_in_two_steps(const Path& from, const Path& to) {
  const Path old = from.parent_path() / ("old-" + from.filename().string());
  if (std::filesystem::exists(to)) std::filesystem::rename(to, old);
  std::filesystem::rename(from, to);
  std::filesystem::remove_all(old);
}

}  // namespace

void write_durably(const Path& path, std::string_view content) {
  const FileDescriptor file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  while (!content.empty()) {
    const ssize_t written = write(file.get(), content.data(), content.size());
    if (written < 0 && errno != EINTR) throw_system_error("cannot write", path);
    if (written > 0) content.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fsync(file.get()) != 0) throw_system_error("cannot write", path);
}

void replace_file(const Path& path, std::string_view content) {
  Path next = path;
  next += fmt::format(".{}", getpid());  // another process may replace the same file
  write_durably(next, content);
  std::filesystem::rename(next, path);
  sync_to_disk(path.has_parent_path() ? path.parent_path() : Path("."));
}

void sync_to_disk(const Path& path) {
  if (fsync(open_file(path, O_RDONLY).get()) != 0) throw_system_error("cannot write", path);
}

void replace_folder(const Path& from, const Path& to) {
  const auto rename_with = [&](unsigned int flags) {
    return renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0;
  };
  if (!rename_with(RENAME_NOREPLACE)) {
    if (errno == EINVAL || errno == ENOSYS) replace_in_two_steps(from, to);
    else if (errno != EEXIST || !rename_with(RENAME_EXCHANGE))
      throw_system_error("cannot rename", from);
    std::filesystem::remove_all(from);
  }
  sync_to_disk(to.parent_path());
}

}  // namespace trigram

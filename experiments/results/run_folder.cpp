#include "experiments/results/run_folder.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <iterator>

#include "experiments/results/durable.h"
#include "experiments/results/machine.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInfix = ".tmp.";

/// A zombie counts as gone: if a job was killed, its parent may never wait for it.
bool is_gone(pid_t pid) {
  if (kill(pid, 0) != 0) return errno == ESRCH;
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string stat(std::istreambuf_iterator<char>(file), {});
  const std::size_t name_end = stat.rfind(')');  // the name may contain any character
  return name_end != stat.npos && stat.compare(name_end, 3, ") Z") == 0;
}

}  // namespace

bool is_leftover(const fs::path& folder) {
  const std::string name = folder.filename().string();
  const std::string before_pid = kInfix + host_name() + ".";
  const std::size_t at = name.find(before_pid);
  if (at == std::string::npos) return false;
  const std::string pid_text = name.substr(at + before_pid.size());
  pid_t pid = 0;
  const auto [end, error] =
      std::from_chars(pid_text.data(), pid_text.data() + pid_text.size(), pid);
  if (error != std::errc{} || end != pid_text.data() + pid_text.size() || pid <= 0) return false;
  return is_gone(pid);
}

RunFolder::RunFolder(const fs::path& experiment, const std::string& id)
    : temporary_(experiment / fmt::format("{}{}{}.{}", id, kInfix, host_name(), getpid())),
      final_(experiment / id) {
  fs::create_directories(experiment);
  fs::remove_all(temporary_);
  fs::create_directory(temporary_);
}

RunFolder::~RunFolder() {
  std::error_code ignored;
  if (!published_) fs::remove_all(temporary_, ignored);
}

void RunFolder::publish(const Json& manifest, bool done) {
  write_durably(temporary_ / "manifest.json", manifest.dump(2) + "\n");
  for (const auto& file : fs::directory_iterator(temporary_)) sync_to_disk(file.path());
  sync_to_disk(temporary_);
  replace_folder(temporary_, final_);
  published_ = true;
  if (!done) return;
  write_durably(final_ / "DONE", "");
  sync_to_disk(final_);
}

void copy_finished_run(const fs::path& from, const Json& manifest, const fs::path& experiment) {
  RunFolder folder(experiment, from.filename().string());
  for (const auto& file : fs::directory_iterator(from))
    if (const fs::path name = file.path().filename(); name != "manifest.json" && name != "DONE")
      fs::copy(file.path(), folder.path() / name, fs::copy_options::recursive);
  folder.publish(manifest, true);
}

void remove_leftovers(const fs::path& experiment) {
  if (!fs::is_directory(experiment)) return;
  for (const auto& entry : fs::directory_iterator(experiment))
    if (std::error_code gone; is_leftover(entry.path()))
      fs::remove_all(entry.path(), gone);  // another process may remove it at the same time
}

}  // namespace trigram

#include "experiments/run/part_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "core/check.h"

namespace trigram {

PartFile::PartFile() : file_(std::tmpfile()) {
  if (!file_) throw std::system_error(errno, std::generic_category(), "cannot make a file");
}

void PartFile::write(double brought_back_s, const std::optional<HeartbeatDetector>& detector) {
  std::fwrite(&brought_back_s, sizeof brought_back_s, 1, file_);
  if (detector) {
    const std::string bytes = detector->to_bytes();
    std::fwrite(bytes.data(), bytes.size(), 1, file_);
  }
  std::fflush(file_);
}

void PartFile::read(double& brought_back_s, std::optional<HeartbeatDetector>& detector) {
  std::rewind(file_);
  TRIGRAM_CHECK(std::fread(&brought_back_s, sizeof brought_back_s, 1, file_) == 1,
                "a part of a run did not say how it ended");
  if (!detector) return;
  std::string bytes = detector->to_bytes();
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file_));
  detector->from_bytes(bytes);
}

int run_in_child(const std::function<int()>& body) {
  fflush(nullptr);  // otherwise the child would also write the content of the parent's buffers
  const pid_t parent = getpid(), child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "cannot fork");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // the parent died before the call of prctl
    const int code = body();
    fflush(nullptr);
    _exit(code);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace trigram

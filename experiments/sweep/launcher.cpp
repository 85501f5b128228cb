#include "experiments/sweep/launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "experiments/exit_codes.h"
#include "experiments/process/forwarding.h"

namespace trigram {

void become_launcher(const std::string& launcher, const std::vector<std::string>& arguments) {
  const std::string script = "exec " + launcher + " \"$@\"";
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<const char*> words = {"sh", "-c", script.c_str(), "sh", program.c_str()};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  words.push_back(nullptr);
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // a job does not outlive this process's parent
  setpgid(0, 0);  // a signal of a terminal reaches the launcher only once, through this parent
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
  execvp(words[0], const_cast<char**>(words.data()));
  std::perror("trigram: sh");
  _exit(kRunFailed);
}

int run_under_launcher(const std::string& launcher, const std::vector<std::string>& arguments) {
  const EndedChild ended = run_forwarding_signals([&] { become_launcher(launcher, arguments); });
  if (ended.interrupted) return kInterrupted;
  const int status = ended.wait_status;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kRunFailed;
}

}  // namespace trigram

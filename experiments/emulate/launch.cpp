#include "experiments/emulate/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>

#include "experiments/emulate/namespaces.h"
#include "experiments/exit_codes.h"
#include "experiments/process/forwarding.h"
#include "netmodels/fragments.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

/// Writes the program with which mpirun starts its daemon on a host. $1 is the host's address, and
/// the rest is a shell command to run there. Each node gets its own host name, because Open MPI
/// uses the name up to the first dot to decide which ranks can share memory, and to which host a
/// file belongs.
void write_agent(const fs::path& file) {
  std::ofstream(file) << fmt::format(
      "node={}$1; name=$(echo $node | tr . -); shift\n"
      "exec ip netns exec $node unshare --uts sh -c \"echo $name > /proc/sys/kernel/hostname; "
      "$*\"\n",
      namespace_name(getpid(), ""));
}

void write_hosts(const fs::path& file, const EmulatedNetwork& network) {
  std::ofstream out(file);
  for (int node = 0; node < network.nodes; ++node)
    out << fmt::format("{} slots={}\n", KernelNetwork::address(node), network.workers_per_node);
}

std::vector<std::string> launcher(const EmulatedNetwork& network, const fs::path& folder) {
  std::vector<std::string> words = {"ip", "netns", "exec", KernelNetwork::switch_namespace(),
                                    "mpirun"};
  const auto set = [&words](const char* parameter, const std::string& value) {
    words.insert(words.end(), {"--mca", parameter, value});
  };
  set("plm_rsh_agent", fmt::format("sh {}", (folder / "agent").string()));
  set("plm_rsh_no_tree_spawn", "1");
  set("orte_tmpdir_base", folder.string());
  set("pml", "ob1");
  set("btl", network.workers_per_node > 1 ? "tcp,self,vader" : "tcp,self");
  set("btl_tcp_if_include", KernelNetwork::subnet());
  set("oob_tcp_if_include", KernelNetwork::subnet());
  const bool tuned = !network.tcp.has_window();  // if TCP is described, Open MPI keeps its defaults
  if (tuned) {
    set("btl_tcp_flags", "send");
    for (const char* limit : {"eager_limit", "rndv_eager_limit", "max_send_size"})
      set(fmt::format("btl_tcp_{}", limit).c_str(),
          std::to_string(fragment_bytes(network.nic_Bps)));
  }
  set("mpi_yield_when_idle", "1");
  // A daemon that left the session would also lose its priority, and this command would lose track
  // of it.
  words.insert(words.end(), {"--leave-session-attached", "--bind-to", "none", "--hostfile",
                             (folder / "hosts").string(), "-n",
                             std::to_string(network.nodes * network.workers_per_node)});
  return words;
}

[[noreturn]] void become(const std::vector<std::string>& words) {
  setpgid(0, 0);  // a signal of a terminal reaches mpirun only once, through this parent
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  // The watcher takes its owner to be alive while an end of the watcher's pipe is open, so mpirun
  // must not inherit that end.
  close_range(STDERR_FILENO + 1, ~0u, 0);
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);  // namespaces need root
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  setenv(kEmulationVariable, "1", 1);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  std::perror("trigram: ip");
  _exit(kRunFailed);
}

/// The exit code of the ranks, which mpirun returns unless something else ended the job; else
/// kRunFailed.
int job_exit_code(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    spdlog::error("mpirun was ended by signal {}", WTERMSIG(wait_status));
    return kRunFailed;
  }
  const int code = WEXITSTATUS(wait_status);
  const bool ours = code == kOk || code == kBadInput || code == kWatchdog || code == kInterrupted;
  return ours ? code : kRunFailed;
}

}  // namespace

int launch_job(const EmulatedNetwork& network, const fs::path& folder,
               const std::vector<std::string>& options, const std::vector<std::string>& command) {
  write_agent(folder / "agent");
  write_hosts(folder / "hosts", network);
  std::vector<std::string> words = launcher(network, folder);
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), command.begin(), command.end());
  const EndedChild ended = run_forwarding_signals([&] { become(words); });
  return ended.interrupted ? kInterrupted : job_exit_code(ended.wait_status);
}

}  // namespace trigram

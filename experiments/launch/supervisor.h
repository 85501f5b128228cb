#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "experiments/launch/failure_injector.h"
#include "experiments/launch/nodes.h"

namespace trigram {

class Signals;

/// Supervises a training job from outside of MPI. The job runs as a sequence of *generations*: jobs
/// of the launcher on a fixed set of nodes, each of which continues from the last checkpoint of the
/// one before. A generation ends when training is complete, when one of its processes fails, or
/// when the set of nodes changes. In the last case it first gets the time to write one more
/// checkpoint.
class Supervisor {
 public:
  struct Options {
    NodeRange nodes;
    int workers_per_node = 1;
    bool processes = true;  // false if all workers are in one process
    /// A command of the shell in which {ranks}, {nodes}, {hosts} and {names} are replaced: the
    /// numbers of processes and nodes, `hosts_with_slots` and `host_names`.
    std::string launcher;
    int max_restarts = 3;           // generations that may fail
    double node_wait_s = 600;       // how long to wait for enough nodes
    double checkpoint_wait_s = 60;  // how long a generation that is to end may go on
    Failures failures;              // that the supervisor causes
    std::filesystem::path record;   // the file that gets the generations, as JSON
  };
  /// The functions that tell the supervisor about the job.
  struct Job {
    /// The arguments of this program with which the processes of a generation train on so many
    /// nodes, from the newest checkpoint on.
    std::function<std::vector<std::string>(int nodes)> arguments;
    /// The nodes that may be used now.
    std::function<NodeList()> nodes;
    /// The number of steps in the newest checkpoint; 0 if there is none.
    std::function<long()> checkpoint_steps;
    /// The error with which the run on so many nodes has failed; empty if it has not said why.
    std::function<std::string(int nodes)> error;
  };
  Supervisor(Options options, Job job);

  /// Runs generations until the job ends, and says on stderr when one begins and why it ends.
  /// Returns kOk, kBadInput (the job's processes refused their input), kInterrupted (a signal ended
  /// this process), or kRunFailed.
  int run();
  /// A table of the generations.
  std::string table() const;
  /// The number of nodes of the last generation.
  int last_nodes() const { return static_cast<int>(generations_.back().nodes.size()); }

 private:
  struct Generation {
    NodeList nodes;
    long from_step = 0, to_step = 0;  // checkpoints at its begin and at its end
    double begin_s = 0, end_s = 0;    // since the supervisor's start
    int code = 0;
    bool resized = false, interrupted = false;  // why it was ended, if it was
    std::string error = {};                     // the verdict of its run
    std::optional<double> changed_s = {};       // when other nodes were noticed
    double asked_s = 0;                         // when the nodes were last asked for
  };
  std::optional<NodeList> wait_for_nodes();
  NodeList usable_nodes() const;
  void end_if_nodes_changed(Generation& generation, pid_t launcher);
  Generation run_generation(const NodeList& nodes, Signals& signals);
  std::string launcher_command(const NodeList& nodes) const;
  bool would_fail_again() const;
  static std::string end_of(const Generation& generation);
  void announce(const Generation& generation, const std::string& end) const;
  void write_record() const;
  double now_s() const;

  const Options options_;
  const Job job_;
  std::vector<Generation> generations_;
  FailureInjector failures_;
  double started_s_ = 0;
  bool interrupted_ = false;
};

/// Throws ConfigError at `--launcher` unless the command has only the braces of Options::launcher.
void check_launcher(const std::string& launcher);

}  // namespace trigram

#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trigram {

/// The nodes that a job may use, one host name for each node, in the order of preference. A host
/// that is named twice counts as two nodes.
using NodeList = std::vector<std::string>;

/// Reads a file with one host per line. Empty lines, and everything from a `#` on, are left out.
/// Throws ConfigError at `--hosts` if the file cannot be read, or if a line is no host name.
NodeList read_nodes(const std::filesystem::path& file);

/// The nodes that a command of the shell prints, in the same form. Throws ConfigError at
/// `--discover` if it fails, or if a line is no host name.
NodeList discovered_nodes(const std::string& command);

/// The nodes of the Slurm job that this process is in, from `scontrol show hostnames`; empty
/// outside Slurm. Throws std::runtime_error if scontrol fails.
NodeList slurm_nodes();

/// Nodes in the form of mpirun's option --host: every host once, with
/// its number of processes, as in `a:4,b:8`.
std::string hosts_with_slots(const NodeList& nodes, int workers_per_node);

/// Nodes, every host once, separated by commas, as srun's option
/// --nodelist expects.
std::string host_names(const NodeList& nodes);

/// A number of nodes from `least` to `most`.
struct NodeRange {
  int least = 1, most = 1;
};

/// Parses `2:4`, or `4` for exactly four. Throws ConfigError at `--nodes`.
NodeRange parse_node_range(const std::string& text);

}  // namespace trigram

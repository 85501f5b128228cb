#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace trigram {

// The network namespaces of `trigram emulate`. Their names contain the id of the process that owns
// them, so that they can be found and removed after that process has died.

/// The name of a namespace: "trigram-PID-PART".
std::string namespace_name(pid_t owner, const std::string& part);

/// Creates a namespace with a working loopback device.
void add_namespace(const std::string& name);

/// Removes the namespaces of a process. Ends the processes inside them with SIGTERM and, after some
/// seconds, with SIGKILL.
void remove_namespaces(pid_t owner);

/// Removes the namespaces of processes that no longer exist. Returns how many there were.
int remove_dead_namespaces();

}  // namespace trigram

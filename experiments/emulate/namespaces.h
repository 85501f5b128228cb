#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace trigram {

// The network namespaces of `trigram emulate`. Their names say which process they belong to, so
// that they can be found and removed when it has died.

/// "trigram-PID-PART".
std::string namespace_name(pid_t owner, const std::string& part);

/// Makes one; its loopback works.
void add_namespace(const std::string& name);

/// Removes those of a process, and ends what runs in them: by SIGTERM, and after some seconds by
/// SIGKILL.
void remove_namespaces(pid_t owner);

/// Removes those of processes that are no more. Returns how many there were.
int sweep_namespaces();

}  // namespace trigram

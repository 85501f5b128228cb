#pragma once

#include <string>
#include <vector>

namespace trigram {

/// Something that the program can use, and whether this build and this machine have it.
struct Check {
  std::string group;  // title of the group, such as "worlds"; checks of a group are neighbours
  std::string name;
  bool present = false;
  /// What was found, such as a version; if the check is not present, what is lacking without it.
  std::string detail;
  /// How to get it, if it is not present; empty if nothing has to be installed.
  std::string remedy = {};
  /// The packages of Debian that contain it, separated by spaces. Empty if no package of Debian
  /// does, or if it is present.
  std::string packages = {};
};

/// Examines this build and this machine. Runs nvidia-smi, mpirun and Python for their versions, if
/// they are there, and throws nothing if they fail.
std::vector<Check> examine();

}  // namespace trigram

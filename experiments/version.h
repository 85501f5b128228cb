#pragma once

#include <map>
#include <string>

namespace trigram {

/// The version of this program, its libraries and its compiler.
struct Version {
  std::string number;  // number of the release
  /// The output of `git describe` at build time, followed by
  ///   "-dirty." and a hash of the uncommitted changes, if there were any;
  ///   "+" and a hash of the executable, if it has algorithms from outside this source tree.
  std::string git;
  /// Names and versions; "absent" for a library that is not built in. Also has "compiler" and
  /// "build" (the build type).
  std::map<std::string, std::string> libraries;
};
Version version();
/// The version of the source tree. Its `git` lacks the "+" and the hash of the executable.
Version built_version();

}  // namespace trigram

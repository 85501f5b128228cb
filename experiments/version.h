#pragma once

#include <map>
#include <string>

namespace trigram {

/// The version of this program and of its libraries.
struct Version {
  std::string number;  // of the release
  /// The commit at build time; plus "-dirty." and a hash of the uncommitted changes if there are
  /// any; plus "+" and a hash of the program if it has algorithms that the commit does not contain.
  std::string git;
  std::map<std::string, std::string> libraries;  // name -> version; "absent" if not built in
};
Version version();
/// The version at build time, without regard to algorithms that were added since.
Version built_version();

}  // namespace trigram

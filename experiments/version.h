#pragma once

#include <map>
#include <string>

namespace trigram {

/// Which program this is.
struct Version {
  std::string number;  // of the release
  /// Commit at build time; "-dirty." and a hash of the changes when there are any; "+" and a hash
  /// of the program when it has algorithms that the commit does not.
  std::string git;
  std::map<std::string, std::string> libraries;  // name -> version; "absent" when not built in
};
Version version();
/// As it was built, whatever was added since.
Version built_version();

}  // namespace trigram

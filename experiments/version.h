#pragma once

#include <map>
#include <string>

namespace trigram {

/// Which program this is.
struct Version {
  std::string number;  // of the release
  std::string git;  // commit at build time; "-dirty." and a hash of the changes when there are any
  std::map<std::string, std::string> libraries;  // name -> version; "absent" when not built in
};
Version version();

}  // namespace trigram

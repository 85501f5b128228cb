#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "core/workloads/profile.h"

namespace trigram {

/// A parsed profile. The totals that the file claims are not checked yet.
struct ProfileText {
  Profile profile;
  std::optional<double> forward_s, backward_s;  // claimed totals
};

/// An error in a profile and its place in the file: "line 3: expected ...".
class ProfileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Parses the content of a CSV file; throws ProfileError.
ProfileText parse_profile_csv(const std::string& content);
/// Parses the content of a JSON file; throws ProfileError.
ProfileText parse_profile_json(const std::string& content);

}  // namespace trigram

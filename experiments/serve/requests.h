#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// A command that the page asks for.
struct Requested {
  std::vector<std::string> arguments;  // of this program
  std::string title;                   // for the list of commands
  std::string sweep;                   // name of the folder of its results
};

/// The experiments, presets of clusters and profiles from which the page offers a choice:
/// {"experiments": [name], "clusters": [name], "profiles": [name], "accelerators": [description]}.
Json choices();

/// The text of an experiment in `configs/`. Throws ConfigError for a name that choices() lacks.
std::string experiment_text(const std::string& name);

/// A sweep from {"name", "config": text of an experiment}. Writes the text to a file in `folder`.
/// Throws ConfigError, with a JSON pointer, for a member that is missing or wrong.
Requested sweep_of(const Json& body, const std::filesystem::path& results,
                   const std::filesystem::path& folder);

/// A question to `trigram advise` from {"name", "cluster": preset or description, "profile",
/// "target"}; "target" may be absent, and so may "name" with a preset. As sweep_of.
Requested question_of(const Json& body, const std::filesystem::path& results,
                      const std::filesystem::path& folder);

}  // namespace trigram

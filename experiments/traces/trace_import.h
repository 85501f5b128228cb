#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/workloads/profile.h"

namespace trigram {

struct TraceImportOptions {
  std::optional<long> step;          // N of ProfilerStep#N; the last whole step otherwise
  std::optional<std::size_t> batch;  // samples; from the trace otherwise, if it says so
  std::string name;                  // of the profile; empty: the name of the file
  std::string accelerator;           // empty: the device that the trace names, if any
};

/// Makes a profile of one training step from a trace: the JSON file of torch.profiler (Kineto), or
/// a Chakra execution trace in JSON. `Profile::assumed` lists what the trace does not say, and, in
/// lines that begin with "left out:", what it contains that belongs to no pass. Throws ConfigError
/// with the file and the JSON pointer of what was expected.
Profile import_trace(const std::filesystem::path& file, const TraceImportOptions& options);

/// The text of a profile file: JSON if `file` ends in .json, CSV otherwise. `load_profile` reads
/// it.
std::string profile_text(const Profile& profile, const std::filesystem::path& file);

}  // namespace trigram

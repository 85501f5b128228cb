#pragma once

#include <string>
#include <vector>

#include "core/workloads/registry.h"

namespace trigram {

/// A file whose content affects the results of a run.
struct InputFile {
  std::string path;  // relative to the data folder if the file lies inside, else absolute
  std::string sha256;
};

/// Reads and hashes the workload's input files.
std::vector<InputFile> hash_inputs(const WorkloadFactory& workload);

/// The files as JSON, {path: hash}, for manifests and for the other processes of a job.
Json to_json(const std::vector<InputFile>& inputs);

/// Compares files of this machine with the hashes {path: hash} of rank 0. Throws ConfigError, which
/// names the file, if one is missing or has another content.
void check_inputs(const Json& hashes);

}  // namespace trigram

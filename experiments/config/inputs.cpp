#include "experiments/config/inputs.h"

#include "core/files.h"
#include "experiments/sha256.h"

namespace trigram {
namespace {

/// The path under which a manifest records a file. It is relative to the data folder if the file
/// comes with the program, so that it does not depend on where the program is installed.
std::string path_in_manifest(const std::filesystem::path& file) {
  const auto below = file.lexically_relative(data_dir());
  return (below.empty() || *below.begin() == ".." ? file : below).string();
}

std::string hash_here(const std::filesystem::path& file) {
  try {
    return sha256_of_file(file);
  } catch (const std::runtime_error&) {
    throw ConfigError(file.string(), "cannot be read; expected the file that rank 0 has read");
  }
}

}  // namespace

std::vector<InputFile> hash_inputs(const WorkloadFactory& workload) {
  std::vector<InputFile> inputs;
  for (const auto& file : workload.input_files())
    inputs.push_back({path_in_manifest(file), sha256_of_file(file)});
  return inputs;
}

Json to_json(const std::vector<InputFile>& inputs) {
  Json hashes = Json::object();
  for (const InputFile& input : inputs) hashes[input.path] = input.sha256;
  return hashes;
}

void check_inputs(const Json& hashes) {
  for (const auto& [path, hash] : hashes.items()) {
    const std::filesystem::path file = data_dir() / path;  // an absolute path stays as it is
    if (hash_here(file) != hash)
      throw ConfigError(file.string(),
                        "has another content than on rank 0; expected the same content on all "
                        "ranks");
  }
}

}  // namespace trigram

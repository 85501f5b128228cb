#include "experiments/results/stored_run.h"

#include <fstream>

namespace trigram {

StoredRun read_stored_run(const std::filesystem::path& folder, const std::string& git) {
  std::ifstream file(folder / "manifest.json");
  if (!file) return {};
  Json manifest = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!manifest.is_object()) return {StoredRun::partial, Json::object()};
  const std::string status = manifest.value("status", "");
  StoredRun run{StoredRun::partial, std::move(manifest)};
  if (status == "failed") run.state = StoredRun::failed;
  else if (std::filesystem::exists(folder / "DONE"))
    run.state = run.manifest.value("git", "") == git ? StoredRun::done : StoredRun::stale;
  return run;
}

bool is_under_way(const std::filesystem::path& folder) {
  return folder.filename().string().find(".tmp.") != std::string::npos;
}

std::set<std::filesystem::path> run_folders(const std::filesystem::path& root) {
  std::set<std::filesystem::path> found;
  if (std::filesystem::exists(root / "manifest.json")) return {root};
  for (auto entry = std::filesystem::recursive_directory_iterator(root);
       entry != std::filesystem::recursive_directory_iterator(); ++entry) {
    if (entry.depth() >= 2) entry.disable_recursion_pending();
    if (entry->is_directory() &&
        (is_under_way(entry->path()) || std::filesystem::exists(entry->path() / "manifest.json")))
      found.insert(entry->path());
  }
  return found;
}

const char* to_string(StoredRun::State state) {
  switch (state) {
    case StoredRun::missing: return "missing";
    case StoredRun::failed: return "failed";
    case StoredRun::partial: return "partial";
    case StoredRun::stale: return "stale";
    case StoredRun::done: return "done";
  }
  return "unknown";
}

}  // namespace trigram

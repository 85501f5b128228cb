#include "experiments/results/stored_run.h"

#include <fmt/format.h>

#include "core/config/json_text.h"
#include "core/files.h"
#include "experiments/results/durable.h"
#include "experiments/results/manifest.h"

namespace trigram {
namespace {

std::string why_stale(const Json& manifest, const std::string& git) {
  const Json schema = manifest.value("schema_version", Json());
  if (schema != kManifestSchema)
    return fmt::format("is of schema {}, this program's is {}", schema.dump(), kManifestSchema);
  const std::string made_by = text_or_empty(manifest, "git");
  return made_by == git ? "" : fmt::format("was made by version {}, this is {}", made_by, git);
}

/// Reads a manifest. Returns an empty object if the file cannot be read or is not a manifest.
Json read_manifest(const std::filesystem::path& path) {
  try {
    const Json manifest = try_parse_json(read_text_file(path)).value_or(Json());
    const bool usable = manifest.is_object() && manifest.value("sweep", Json::object()).is_object();
    return usable ? manifest : Json::object();
  } catch (const std::runtime_error&) {
    return Json::object();
  }
}

bool is_done(const std::filesystem::path& folder) {
  std::error_code ignored;  // for example a link to itself
  return std::filesystem::exists(folder / "DONE", ignored);
}

/// True if the folder contains a run. A folder (rather than a file) named manifest.json does not
/// count: it may be the results of an old experiment of that name.
bool holds_a_run(const std::filesystem::path& folder) {
  std::error_code ignored;
  return is_done(folder) || std::filesystem::is_regular_file(folder / "manifest.json", ignored);
}

}  // namespace

StoredRun read_stored_run(const std::filesystem::path& folder, const std::string& git) {
  if (!holds_a_run(folder)) return {};
  StoredRun run{StoredRun::partial, read_manifest(folder / "manifest.json"), {}};
  if (run.manifest.empty()) return run;
  if (text_or_empty(run.manifest, "status") == "failed") {
    run.state = StoredRun::failed;
  } else if (is_done(folder)) {
    run.why_stale = why_stale(run.manifest, git);
    run.state = run.why_stale.empty() ? StoredRun::done : StoredRun::stale;
  }
  return run;
}

void relabel(const std::filesystem::path& folder, const StoredRun& run, const Json& sweep) {
  Json manifest = run.manifest;
  manifest["sweep"] = sweep;
  replace_file(folder / "manifest.json", manifest.dump(2) + "\n");
}

bool is_unpublished(const std::filesystem::path& folder) {
  return folder.filename().string().find(".tmp.") != std::string::npos;
}

namespace {

/// Adds the folders of runs below `folder`, down to results/NAME/ID. Folders may appear, get their
/// final names or vanish meanwhile.
void add_run_folders(const std::filesystem::path& folder, int depth,
                     std::set<std::filesystem::path>& found) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code vanished;
    if (!entry->is_directory(vanished)) continue;
    if (is_unpublished(entry->path()) || holds_a_run(entry->path())) found.insert(entry->path());
    if (depth < 2 && !entry->is_symlink(vanished)) add_run_folders(entry->path(), depth + 1, found);
  }
}

}  // namespace

std::set<std::filesystem::path> run_folders(const std::filesystem::path& root) {
  std::set<std::filesystem::path> found;
  if (holds_a_run(root)) return {root};
  add_run_folders(root, 0, found);
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

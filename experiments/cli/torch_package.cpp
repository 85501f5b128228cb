#include "experiments/cli/torch_package.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "core/config/config_error.h"
#include "core/files.h"
#include "experiments/emulate/tool.h"
#include "experiments/process/analysis.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

/// The folder of the package: of the build, of the installation, or of the sources; empty if Python
/// finds it by itself.
fs::path package_folder() {
  const fs::path program = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& folder :
       {program.parent_path() / "python", data_dir() / "experiments/python"})
    if (fs::exists(folder / "trigram" / "ddp.py")) return folder;
  return {};
}

}  // namespace

std::vector<std::string> torch_python(const std::vector<std::string>& variables) {
  std::vector<std::string> words = {"env", "PYTHONSAFEPATH=1"};  // older Pythons ignore it
  words.insert(words.end(), variables.begin(), variables.end());
  if (const fs::path folder = package_folder(); !folder.empty()) {
    const char* present = std::getenv("PYTHONPATH");
    words.push_back("PYTHONPATH=" + fs::absolute(folder).string() +
                    (present && *present ? std::string(":") + present : ""));
  }
  words.insert(words.end(), {python_interpreter(), "-B"});
  return words;
}

void require_torch(const std::string& pointer, const std::string& need) {
  std::vector<std::string> words = torch_python();
  words.insert(words.end(), {"-c",
                             "import importlib.util, sys\n"
                             "sys.exit(importlib.util.find_spec('torch') is None)"});
  try {
    run_tool(words);
  } catch (const std::runtime_error&) {
    throw ConfigError(pointer,
                      fmt::format("{} in {}; scripts/setup --torch installs it, or $PYTHON names "
                                  "another interpreter",
                                  need, python_interpreter()));
  }
}

}  // namespace trigram

#include <dlfcn.h>

#include <stdexcept>

#include "core/files.h"
#include "core/torch/script.h"

namespace trigram {
namespace {

/// Beside the data of the program, both in the build tree and where it is installed.
std::filesystem::path plugin_file() {
  return (data_dir() / "../../lib/trigram/libtrigram_torch.so").lexically_normal();
}

}  // namespace

std::string torch_absent_reason() {
  if (std::filesystem::exists(plugin_file())) return "";
  return "this build has no PyTorch; install libtorch-dev (scripts/setup --torch), then configure "
         "and build again";
}

std::shared_ptr<const TorchScript> load_torch_script(const TorchScriptOptions& options) {
  if (const std::string reason = torch_absent_reason(); !reason.empty())
    throw std::runtime_error(reason);
  // Never closed: PyTorch's threads and destructors would outlive its code.
  void* library = dlopen(plugin_file().c_str(), RTLD_NOW | RTLD_LOCAL);
  void* function = library ? dlsym(library, kTorchPluginFunction) : nullptr;
  if (!function) throw std::runtime_error(std::string("PyTorch cannot be loaded: ") + dlerror());
  TorchFileError error;
  TorchScript* script = reinterpret_cast<TorchPlugin*>(function)(options, error);
  if (!script) throw error;
  return std::shared_ptr<const TorchScript>(script);
}

}  // namespace trigram

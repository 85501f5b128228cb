#include "experiments/doctor/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "core/files.h"
#include "core/printable.h"
#include "core/torch/script.h"
#include "core/workloads/registry.h"
#include "experiments/emulate/tool.h"
#include "experiments/process/analysis.h"
#include "experiments/results/cores.h"
#include "experiments/results/machine.h"
#include "experiments/serve/server.h"
#include "experiments/version.h"
#include "experiments/worlds.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

/// A check of something that packages of Debian contain.
Check packaged(std::string group, std::string name, bool present, std::string detail,
               std::string packages) {
  if (present) return {std::move(group), std::move(name), true, std::move(detail)};
  return {std::move(group),  std::move(name),       false,
          std::move(detail), "install " + packages, std::move(packages)};
}

/// The output of a program; empty if it cannot be run or fails.
std::string output_or_empty(const std::vector<std::string>& command) {
  if (find_tool(command.front()).empty()) return {};
  try {
    return run_tool(command);
  } catch (const std::exception&) {
    return {};
  }
}

std::string first_line(const std::string& text) {
  return printable(text.substr(0, text.find('\n')));
}

/// The GPUs that NVIDIA's driver lists, as in "2 x NVIDIA H100, driver 550.54"; empty if none.
std::string gpus() {
  std::istringstream lines(
      output_or_empty({"nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"}));
  std::map<std::string, int> counts;
  for (std::string line; std::getline(lines, line);)
    if (const std::size_t comma = line.rfind(", "); comma != std::string::npos)
      ++counts[printable(line.replace(comma, 2, ", driver "))];
  std::string text;
  for (const auto& [kind, count] : counts)
    text += fmt::format("{}{} x {}", text.empty() ? "" : "; ", count, kind);
  return text;
}

/// The string at a pointer; empty if there is none.
std::string string_at(const Json& j, const std::string& pointer) {
  const Json::json_pointer place(pointer);
  return j.contains(place) && j[place].is_string() ? printable(j[place].get<std::string>()) : "";
}

void add_worlds(std::vector<Check>& checks) {
  const std::map<std::string, std::string> packages = {
      {"sim", "libsimgrid-dev"}, {"mpi", "libopenmpi-dev openmpi-bin"}, {"nccl", ""}};
  for (const World& world : worlds()) {
    Check check{"worlds", world.name, world.absent.empty(), world.doc, world.absent};
    if (const auto found = packages.find(world.name); !check.present && found != packages.end())
      check.packages = found->second;
    checks.push_back(std::move(check));
  }
}

/// The workloads that need something on this machine; all others are built in.
void add_workloads(std::vector<Check>& checks) {
  const std::map<std::string, std::string> packages = {{"fashion_mnist", "dataset-fashion-mnist"},
                                                       {"text", "bible-kjv bible-kjv-text"}};
  for (const WorkloadEntry& workload : workloads()) {
    const std::string path = string_at(workload.schema(), "/properties/data/default");
    const auto found = packages.find(workload.name);
    if (path.empty() || found == packages.end()) continue;
    std::error_code ignored;
    checks.push_back(packaged("workloads", workload.name, fs::exists(path, ignored),
                              "its data, in " + path, found->second));
  }
  checks.push_back(packaged("workloads", "torchscript", torch_absent_reason().empty(),
                            "PyTorch, when the program was built",
                            "libtorch-dev python3-torch pybind11-dev python3-dev"));
}

void add_libraries(std::vector<Check>& checks) {
  const Version v = version();
  checks.push_back({"program", "trigram", true, fmt::format("{} ({})", v.number, v.git)});
  for (const auto& [library, number] : v.libraries)
    checks.push_back({"program", library, number != "absent", number});
  checks.push_back(packaged("program", "HTTP server", serve_absent_reason().empty(),
                            "for trigram serve, when the program was built", "libcpp-httplib-dev"));
  const fs::path data = data_dir() / "configs";
  std::error_code ignored;
  checks.push_back({"program", "data files", fs::is_directory(data, ignored),
                    printable(data.string()),
                    "install the program with its data (make install), or name the folder that "
                    "contains configs/ in TRIGRAM_DATA_DIR"});
}

void add_machine(std::vector<Check>& checks) {
  const Json machine = describe_machine(available_cores());
  checks.push_back({"machine", "processor", true,
                    fmt::format("{}, {} cores for this process, {:.1f} GB of memory",
                                machine.value("cpu", "unknown"), machine.value("cores", 0),
                                machine.value("memory", 0.0) / 1e9)});
  const std::string found = gpus();
  checks.push_back({"machine", "GPUs", !found.empty(), found.empty() ? "for the world nccl" : found,
                    "nvidia-smi lists none: on a machine with GPUs, install NVIDIA's driver"});
  const std::string mpirun = output_or_empty({"mpirun", "--version"});
  checks.push_back(packaged("machine", "mpirun", !mpirun.empty(),
                            mpirun.empty() ? "to start jobs of the world mpi" : first_line(mpirun),
                            "openmpi-bin"));
  if (const std::string srun = find_tool("srun"); !srun.empty())
    checks.push_back({"machine", "srun", true, printable(srun)});
  for (const auto& [name, package] : {std::pair{"ip", "iproute2"}, {"tc", "iproute2"}}) {
    const std::string tool = find_tool(name);
    checks.push_back(packaged("machine", name, !tool.empty(),
                              tool.empty() ? "for trigram emulate" : printable(tool), package));
  }
}

/// Python and its modules, as the package of the reports sees them.
void add_analysis(std::vector<Check>& checks) {
  const std::string group = "tables and reports";
  const AnalysisOutput output = run_analysis({"modules"}, "");
  const Json found = Json::parse(output.out, nullptr, false);
  const std::string python = output.failure.empty() ? string_at(found, "/python") : "";
  const std::string failure = output.failure.empty() ? "no answer" : printable(output.failure);
  checks.push_back(packaged(group, "Python", !python.empty(),
                            python.empty() ? "for tables: " + failure : python, "python3"));
  for (const char* name : {"numpy", "pandas", "matplotlib"}) {
    const std::string number = string_at(found, fmt::format("/modules/{}", name));
    checks.push_back(packaged(group, name, !number.empty(),
                              number.empty() ? "for plots and reports" : number,
                              fmt::format("python3-{}", name)));
  }
  const bool charts = found.is_object() && found.contains("charts") && found["charts"] == true;
  checks.push_back({group, "charts", charts, charts ? "uPlot" : "for the charts of reports",
                    "run scripts/setup in the source tree, and install again"});
  std::string browser;
  for (const char* name : {"chromium", "chromium-browser", "google-chrome", "firefox"})
    if (browser.empty()) browser = find_tool(name);
  checks.push_back(packaged(
      group, "browser", !browser.empty(),
      browser.empty() ? "to read reports on this machine, and to test them" : printable(browser),
      "chromium"));
}

}  // namespace

std::vector<Check> examine() {
  std::vector<Check> checks;
  add_worlds(checks);
  add_workloads(checks);
  add_libraries(checks);
  add_machine(checks);
  add_analysis(checks);
  for (Check& check : checks)
    if (check.present) check.remedy.clear();
  return checks;
}

}  // namespace trigram

#include "experiments/cli/ddp_runs.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "core/config/json_text.h"
#include "core/files.h"
#include "experiments/cli/emulated_runs.h"
#include "experiments/cli/torch_package.h"
#include "experiments/emulate/launch.h"
#include "experiments/emulate/tool.h"
#include "experiments/emulate/watcher.h"
#include "experiments/exit_codes.h"
#include "experiments/results/durable.h"
#include "experiments/sha256.h"

namespace trigram {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& pointer, const std::string& expected) {
  throw ConfigError(pointer, "expected " + expected + ", as DistributedDataParallel has");
}

/// The hook that does what the algorithm does; null for none.
Json hook_of(const Json& algorithm) {
  const auto name = algorithm.at("name").get<std::string>();
  if (name == "gradient_allreduce") return nullptr;
  if (name == "half_precision_allreduce") {
    if (algorithm.at("format") != "fp16") refuse("/algorithm/format", "fp16, the format of gloo");
    return "fp16";
  }
  if (name == "powersgd") return name;
  refuse("/algorithm/name", "gradient_allreduce, half_precision_allreduce or powersgd");
}

/// The run for the driver. Throws ConfigError for options that DDP does not have.
Json job_run(const PlannedRun& run) {
  const Experiment& e = run.experiment;
  const Json hook = hook_of(e.algorithm);  // first, as it refuses other algorithms
  const Execution execution = e.algorithm_entry().traits(e.algorithm).execution;
  if (!execution.overlap) refuse("/algorithm/overlap", "true");
  if (execution.hierarchical) refuse("/algorithm/hierarchical", "false");
  if (!e.algorithm.value("fusion_buffer", Json()).is_null())
    refuse("/algorithm/fusion_buffer", "no fusion buffer");
  if (e.micro_batches != 1) refuse("/micro_batches", "1");
  if (e.clip_norm) refuse("/clip_norm", "no clip_norm");
  const auto optimizer = e.optimizer.at("name").get<std::string>();
  if (optimizer != "sgd" && optimizer != "adam" && optimizer != "adamw")
    refuse("/optimizer/name", "sgd, adam or adamw");
  return {{"id", run.id},
          {"hook", hook},
          {"rank", e.algorithm.value("rank", 1)},
          {"error_feedback", e.algorithm.value("error_feedback", true)},
          {"warm_start", e.algorithm.value("warm_start", true)},
          {"broadcast_buffers", e.algorithm.value("broadcast_buffers", false)},
          {"bucket", std::max<std::size_t>(execution.bucket_bytes, 1)},
          {"first_bucket",
           std::max<std::size_t>(execution.first_bucket_bytes.value_or(execution.bucket_bytes), 1)},
          {"optimizer", e.optimizer},
          {"steps", e.steps}};
}

/// The start of a command line that runs a Python command with the package.
std::vector<std::string> python() { return torch_python({"GLOO_SOCKET_IFNAME=eth0"}); }

void require_driver() {
  require_torch("--worlds", fmt::format("the world {} needs PyTorch with gloo", kDdp));
}

/// FILE.py:FUNCTION with an absolute path. Throws ConfigError.
std::string absolute_model(const std::string& model) {
  const auto colon = model.rfind(':');
  std::error_code ignored;
  if (colon == std::string::npos || !fs::is_regular_file(model.substr(0, colon), ignored))
    throw ConfigError(
        "--model",
        fmt::format("expected FILE.py:FUNCTION with a file that exists, not \"{}\"", model));
  return fs::absolute(model.substr(0, colon)).string() + model.substr(colon);
}

Plan ddp_plan(const DdpRuns::Options& options, bool netem) {
  const Json world = {{"name", "mpi"},
                      {"padded", true},
                      {"emulated", netem ? "bandwidth_and_latency" : "bandwidth"}};
  Plan plan =
      make_plan(options.config, options.settings, {.world = world, .in_this_process = false});
  for (const PlannedRun& run : plan.runs) {
    emulated_network(run.experiment);
    job_run(run);
    if (!netem && run.experiment.cluster.inter.latency_s > 0)
      throw ConfigError("/cluster/inter/latency",
                        "expected 0us: this kernel has no netem, and DistributedDataParallel "
                        "cannot delay its messages; scripts/in_vm runs commands on a kernel that "
                        "has it");
  }
  return plan;
}

}  // namespace

DdpRuns::DdpRuns(Options options, bool quiet) : options_(std::move(options)), quiet_(quiet) {
  if (options_.model.empty())
    throw ConfigError("--model",
                      "the world ddp needs a model; expected FILE.py:FUNCTION, as for a profile");
  options_.model = absolute_model(options_.model);
  plan_ = ddp_plan(options_, true);
  check_for_namespaces();
  require_tool("mpirun", "openmpi-bin");
  require_driver();
  plan_ = ddp_plan(options_, kernel_has_netem());
  model_hash_ = sha256_of_file(options_.model.substr(0, options_.model.rfind(':')));
}

fs::path DdpRuns::file_of(const PlannedRun& run) const {
  return fs::path(options_.runner.output) / plan_->name / kDdp / (run.id + ".json");
}

Json DdpRuns::stored(const PlannedRun& run) const {
  std::error_code ignored;
  if (!fs::exists(file_of(run), ignored)) return nullptr;
  const auto result = try_parse_json(read_text_file(file_of(run)));
  const bool usable = result && result->is_object() &&
                      result->value("model", Json()) == model_hash_ && result->contains("summary");
  return usable ? *result : Json();
}

int DdpRuns::make_group(const EmulatedNetwork& network, const std::vector<const PlannedRun*>& runs,
                        const fs::path& folder) {
  Json job = {{"model", options_.model},
              {"store", KernelNetwork::address(0)},
              {"results", (folder / "results.json").string()},
              {"runs", Json::array()}};
  for (const PlannedRun* run : runs) job["runs"].push_back(job_run(*run));
  write_durably(folder / "job.json", job.dump());
  fs::remove(folder / "results.json");
  std::vector<std::string> command = python();
  command.insert(command.end(), {"-m", "trigram.ddp", (folder / "job.json").string()});
  const KernelNetwork kernel(network);
  if (!quiet_) spdlog::info("ddp: {} runs on {} nodes", runs.size(), network.nodes);
  const int code = launch_job(network, folder, {}, command);
  if (!fs::exists(folder / "results.json")) return code == kOk ? kRunFailed : code;
  const Json results = parse_json(read_text_file(folder / "results.json"));
  for (const PlannedRun* run : runs) {
    if (!results.contains(run->id)) continue;
    const Json& times = results[run->id];
    const double step_s = times.at("step_s"), compute_s = times.at("compute_s");
    const Json result = {
        {"world", kDdp},
        {"experiment", run->resolved},
        {"sweep", run->coordinates},
        {"model", model_hash_},
        {"summary",
         {{"step_s", step_s},
          {"compute_s", compute_s},
          {"exposed_s", std::max(step_s - compute_s, 0.0)},
          {"bytes_inter", times.at("sent_bytes").get<double>() * double(run->experiment.steps)}}}};
    fs::create_directories(file_of(*run).parent_path());
    replace_file(file_of(*run), result.dump(2) + "\n");
  }
  return code;
}

int DdpRuns::make() {
  remove_left_namespaces();
  std::vector<std::pair<EmulatedNetwork, std::vector<const PlannedRun*>>> groups;
  for (const PlannedRun& run : plan_->runs) {
    if (!options_.runner.force && !stored(run).is_null()) continue;
    const EmulatedNetwork network = emulated_network(run.experiment);
    auto group = std::ranges::find(groups, network, &decltype(groups)::value_type::first);
    if (group == groups.end()) group = groups.insert(group, {network, {}});
    group->second.push_back(&run);
  }
  if (groups.empty()) return kOk;
  const fs::path folder = make_temporary_folder();
  const Watcher watcher(folder);
  int code = kOk;
  for (const auto& [network, runs] : groups) {
    const int group_code = make_group(network, runs, folder);
    if (group_code == kInterrupted || group_code == kBadInput) return group_code;
    if (code == kOk) code = group_code;
  }
  return code;
}

std::vector<Json> DdpRuns::results() const {
  std::vector<Json> manifests;
  for (const PlannedRun& run : plan_->runs)
    if (Json manifest = stored(run); !manifest.is_null()) {
      manifest["sweep"] = run.coordinates;
      manifests.push_back(std::move(manifest));
    }
  return manifests;
}

}  // namespace trigram

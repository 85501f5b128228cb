#include "experiments/traces/chakra_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "experiments/traces/chakra_nodes.h"
#include "experiments/traces/trace_document.h"

namespace trigram {
namespace {

using Kind = ChakraNode::Kind;
using Nodes = std::vector<ChakraNode>;

/// The time during which at least one of the nodes computes.
class BusyTime {
 public:
  explicit BusyTime(const Nodes& computation) {
    for (const ChakraNode& node : computation) spans_.emplace_back(node.begin_us, node.end_us);
    std::ranges::sort(spans_);
  }
  double until_us(double time_us) const {
    double busy = 0, covered = 0;
    for (const auto& [begin, end] : spans_) {
      const double from = std::max(begin, covered), to = std::min(end, time_us);
      if (to <= from) continue;
      busy += to - from;
      covered = to;
    }
    return busy;
  }

 private:
  std::vector<std::pair<double, double>> spans_;
};

/// The nodes of one kind. If some of them are of an accelerator, those of the CPU, which launch
/// them, are left out.
Nodes of_kind(const Nodes& all, Kind kind, std::vector<std::string>& assumed) {
  Nodes found;
  std::ranges::copy_if(all, std::back_inserter(found), [&](const ChakraNode& node) {
    return node.kind == kind && (kind == Kind::collective || node.end_us > node.begin_us);
  });
  if (std::ranges::all_of(found, &ChakraNode::on_cpu)) return found;
  double cpu_us = 0;
  const auto removed = std::erase_if(found, [&](const ChakraNode& node) {
    if (node.on_cpu) cpu_us += node.end_us - node.begin_us;
    return node.on_cpu;
  });
  if (removed > 0)
    assumed.push_back(
        left_out(fmt::format("{} {} of the CPU, {:.4g} ms", removed,
                             kind == Kind::compute ? "operations" : "collectives", cpu_us * 1e-3)));
  return found;
}

/// The layer in a name of Chakra's converter of text workloads: COMP_NODE_conv1_FWD, or
/// COMM_COLL_NODE_conv1_ALLREDUCE; empty for other names.
std::string layer_in(const std::string& name) {
  for (const std::string prefix : {"COMP_NODE_", "COMM_COLL_NODE_"})
    if (name.starts_with(prefix)) {
      std::string rest = name.substr(prefix.size());
      for (const std::string suffix : {"_FWD", "_BWD_WG", "_BWD_IG"})
        if (rest.ends_with(suffix)) return rest.substr(0, rest.size() - suffix.size());
      const auto end = rest.rfind('_');
      return end == rest.npos ? rest : rest.substr(0, end);
    }
  return "";
}

/// True if backward computation takes the result, as in tensor parallelism: this is no gradient.
bool backward_needs(const Nodes& all, const ChakraNode& message) {
  return std::ranges::any_of(all, [&](const ChakraNode& node) {
    return node.kind == Kind::compute && node.is_backward() &&
           std::ranges::any_of(node.data_of,
                               [&](std::size_t i) { return all[i].pointer == message.pointer; });
  });
}

/// The allreduces of gradients, in the order in which backward completes them.
Nodes messages_of_gradients(const Nodes& all, double backward_us,
                            std::vector<std::string>& assumed) {
  Nodes gradients;
  std::map<std::string, std::pair<int, std::size_t>> others;
  std::set<std::string> layers;
  for (const ChakraNode& message : of_kind(all, Kind::collective, assumed)) {
    if (message.collective == "ALL_REDUCE" && message.bytes > 0 && message.ready_us > backward_us &&
        !backward_needs(all, message)) {
      if (const std::string layer = layer_in(message.name);
          !layer.empty() && !layers.insert(layer).second)
        throw ConfigError(message.pointer,
                          fmt::format("expected one step; {} occurs twice", message.name));
      gradients.push_back(message);
    } else {
      auto& [count, bytes] = others[message.collective.empty() ? "unknown" : message.collective];
      ++count;
      bytes += message.bytes;
    }
  }
  for (const auto& [type, messages] : others)
    assumed.push_back(left_out(fmt::format("{} collectives {} that exchange no gradients, {} bytes",
                                           messages.first, type, messages.second)));
  if (gradients.empty())
    throw ConfigError("/nodes",
                      "the trace has no allreduce after backward computation; expected a step of "
                      "data-parallel training, with COMM_COLL_NODE nodes of comm_type ALL_REDUCE");
  std::ranges::stable_sort(gradients, {}, &ChakraNode::ready_us);
  return gradients;
}

/// Gives each layer's forward computation to its tensor, and the rest to the first tensor.
void divide_forward(const Nodes& computation, double backward_us, double total_us,
                    const std::vector<std::string>& layers, Profile& profile) {
  double divided = 0;
  for (const ChakraNode& node : computation) {
    if (node.begin_us >= backward_us) continue;
    const auto found = std::ranges::find(layers, layer_in(node.name));
    if (found == layers.end() || found->empty()) continue;
    profile.tensors[found - layers.begin()].forward_s += (node.end_us - node.begin_us) * 1e-6;
    divided += node.end_us - node.begin_us;
  }
  const double rest = std::max(total_us - divided, 0.0);
  if (rest <= 1e-9 * total_us) return;
  profile.tensors.back().forward_s += rest * 1e-6;
  profile.assumed.push_back(fmt::format(
      "{:.4g} ms of forward computation belong to no gradient in the trace; the first tensor has "
      "them",
      rest * 1e-3));
}

std::string unique(std::string name, std::set<std::string>& used) {
  std::ranges::replace(name, ',', ';');
  const std::string base = name.empty() ? "gradient" : name;
  for (int i = 1; name.empty() || !used.insert(name).second; ++i)
    name = fmt::format("{}.{}", base, i);
  return name;
}

}  // namespace

Profile profile_of_chakra_trace(const std::vector<Json>& values,
                                const TraceImportOptions& options) {
  if (options.step) throw ConfigError("--step", "a Chakra trace holds one step; remove the option");
  const Nodes all = read_chakra_nodes(values);
  Profile profile;
  const Nodes computation = of_kind(all, Kind::compute, profile.assumed);
  if (computation.empty())
    throw ConfigError("/nodes",
                      "no COMP_NODE has a duration; expected a trace with times, or the trace of "
                      "torch.profiler");
  double backward_us = 0, backward_end_us = 0;
  bool any_backward = false;
  for (const ChakraNode& node : computation) {
    if (!node.is_backward()) continue;
    backward_us = any_backward ? std::min(backward_us, node.begin_us) : node.begin_us;
    backward_end_us = std::max(backward_end_us, node.end_us);
    any_backward = true;
  }
  if (!any_backward)
    profile.assumed.emplace_back(
        "no node is called backward or BWD; all computation counts for the backward pass");
  const Nodes gradients = messages_of_gradients(all, backward_us, profile.assumed);
  const BusyTime busy(computation);
  const double end_us = std::max(backward_end_us, gradients.back().ready_us);
  double done = busy.until_us(backward_us);
  std::set<std::string> used;
  std::vector<std::string> layers;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const ChakraNode& message = gradients[i];
    const double until = busy.until_us(i + 1 == gradients.size() ? end_us : message.ready_us);
    layers.push_back(layer_in(message.name));
    profile.tensors.push_back({unique(layers.back().empty() ? message.name : layers.back(), used),
                               (message.bytes + 3) / 4,
                               0,
                               (until - done) * 1e-6,
                               {},
                               {}});
    done = until;
    if (message.bytes % 4 != 0)
      profile.assumed.push_back(fmt::format("{} bytes of {} are rounded up to elements of f32",
                                            message.bytes, profile.tensors.back().tensor));
  }
  divide_forward(computation, backward_us, busy.until_us(backward_us), layers, profile);
  std::ranges::reverse(profile.tensors);
  if (const double after = busy.until_us(1e300) - done; after > 0)
    profile.assumed.push_back(
        left_out(fmt::format("{:.4g} ms of computation after the backward pass", after * 1e-3)));
  profile.assumed.emplace_back(
      "a tensor is a message of the trace, in elements of f32: buckets of the trace stay together");
  if (options.batch) profile.batch = *options.batch;
  else profile.assumed.emplace_back("batch 1: a Chakra trace does not say it");
  return profile;
}

}  // namespace trigram

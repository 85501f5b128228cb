#include "experiments/traces/forward_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace trigram {
namespace {

/// Operations that only prepare a parameter for the operation that follows them.
bool only_prepares(const ProfilerEvent& operation) {
  static const std::set<std::string> names = {
      "aten::t",       "aten::to",     "aten::transpose", "aten::permute",   "aten::view",
      "aten::reshape", "aten::expand", "aten::unsqueeze", "aten::contiguous"};
  return names.contains(operation.name);
}

std::string short_name(const ProfilerEvent& operation) {
  return operation.name.substr(operation.name.rfind(':') + 1);
}

}  // namespace

ForwardLayers::ForwardLayers(const ProfilerStep& step, const ProfilerEvent& forward) {
  std::vector<ProfilerEvent> beside;
  for (const ProfilerEvent& event : step.events) {
    if (event.thread != forward.thread || !forward.holds(event)) continue;
    if (event.is_beside_passes()) beside.push_back(event);
    if (event.is_module()) modules_.push_back(event);
    if (!event.is_operation() ||
        std::ranges::any_of(beside, [&](const ProfilerEvent& b) { return b.holds(event); }))
      continue;
    if (outermost_.empty() || !outermost_.back().holds(event)) outermost_.push_back(event);
    // Operations that create no node have the number of the next node, so the last one counts.
    if (const auto number = event.argument("Sequence number"); number && *number >= 0)
      by_number_[*number] = event;
  }
  std::map<std::string, int> counts;
  for (const ProfilerEvent& operation : outermost_) {
    const std::string name = short_name(operation);
    names_[operation.begin_us] = fmt::format("{}_{}", name, counts[name]++);
  }
}

std::optional<ForwardLayer> ForwardLayers::layer_of(long sequence_number) {
  const auto found = by_number_.find(sequence_number);
  if (found == by_number_.end()) return std::nullopt;
  const ProfilerEvent& operation = found->second;
  std::optional<ForwardLayer> layer;
  for (const ProfilerEvent& module : modules_)  // the last one that holds it is the innermost one
    if (module.holds(operation))
      layer = ForwardLayer{module.name.substr(module.name.find(' ') + 1), module.end_us};
  if (layer) return layer;
  auto outer = std::ranges::find_if(
      outermost_, [&](const ProfilerEvent& event) { return event.holds(operation); });
  const auto whole =
      std::find_if(outer, outermost_.end(), [](const auto& e) { return !only_prepares(e); });
  if (whole != outermost_.end()) outer = whole;
  if (outer == outermost_.end()) return std::nullopt;
  return ForwardLayer{names_[outer->begin_us], outer->end_us};
}

}  // namespace trigram

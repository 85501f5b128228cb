#include "experiments/traces/profiler_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "core/config/json_text.h"
#include "experiments/traces/trace_document.h"

namespace trigram {
namespace {

constexpr std::string_view kStep = "ProfilerStep#";

std::string printed_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() ? found->dump() : "";
}

double time_at(const Json& object, const char* key, const std::string& pointer) {
  const auto value = number_at(object, key, pointer);
  if (!value || *value < 0 || *value > kGreatest)
    throw ConfigError(fmt::format("{}/{}", pointer, key),
                      "expected a number of microseconds that is not negative and at most 9e18");
  return *value;
}

/// Names of steps are copied to the timelines of accelerators, where they have other times.
bool marks_step(const ProfilerEvent& event) {
  return event.name.starts_with(kStep) && !event.category.starts_with("gpu");
}

std::vector<ProfilerEvent> complete_events(const Json& list, const std::string& pointer) {
  std::vector<ProfilerEvent> events;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Json& entry = list[i];
    const std::string place = fmt::format("{}/{}", pointer, i);
    if (!entry.is_object()) throw ConfigError(place, "expected an event, which is an object");
    if (text_or_empty(entry, "ph") != "X") continue;
    ProfilerEvent event{.name = text_or_empty(entry, "name"),
                        .category = text_or_empty(entry, "cat"),
                        .thread = printed_at(entry, "pid") + "/" + printed_at(entry, "tid"),
                        .begin_us = time_at(entry, "ts", place),
                        .pointer = place};
    event.end_us = event.begin_us + time_at(entry, "dur", place);
    if (const auto args = entry.find("args"); args != entry.end() && args->is_object())
      event.args = &*args;
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace

std::optional<long> ProfilerEvent::argument(const char* key) const {
  if (!args) return std::nullopt;
  const auto value = number_at(*args, key, pointer + "/args");
  if (!value || std::abs(*value) > kGreatest) return std::nullopt;
  return static_cast<long>(*value);
}

bool ProfilerEvent::is_operation() const {
  const bool on_cpu = category.empty() || category == "cpu_op" || category == "Operator";
  return on_cpu && name.find("::") != name.npos && !name.starts_with("autograd::") &&
         !name.starts_with("torch::autograd::");
}

bool ProfilerEvent::is_backward() const {
  return name.starts_with("autograd::engine::evaluate_function");
}

bool ProfilerEvent::is_gradient() const { return name == "torch::autograd::AccumulateGrad"; }

bool ProfilerEvent::is_module() const { return name.starts_with("nn.Module: "); }

bool ProfilerEvent::is_kernel() const {
  return category == "kernel" || category == "Kernel" || category == "gpu_memcpy" ||
         category == "gpu_memset" || category == "Memcpy" || category == "Memset";
}

bool ProfilerEvent::is_exchange() const {
  std::string lower = name;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower.find("nccl") != lower.npos || lower.starts_with("gloo:") ||
         lower.starts_with("mpi:") || lower.starts_with("c10d::");
}

bool ProfilerEvent::is_beside_passes() const {
  return name.starts_with("Optimizer.") || name.starts_with("enumerate(DataLoader)");
}

ProfilerStep read_profiler_step(const Json& document, std::optional<long> number) {
  const bool is_list = document.is_array();
  const std::string pointer = is_list ? "" : "/traceEvents";
  const Json& list = is_list ? document : document.at("traceEvents");
  if (!list.is_array()) throw ConfigError(pointer, "expected a list of events");
  std::vector<ProfilerEvent> all = complete_events(list, pointer);
  std::ranges::stable_sort(all, [](const ProfilerEvent& a, const ProfilerEvent& b) {
    return a.begin_us != b.begin_us ? a.begin_us < b.begin_us : a.end_us > b.end_us;
  });
  std::vector<ProfilerEvent> steps;
  std::ranges::copy_if(all, std::back_inserter(steps), marks_step);
  std::string known;
  for (const ProfilerEvent& step : steps)
    known += (known.empty() ? "" : ", ") + step.name.substr(kStep.size());
  if (number) {
    const std::string wanted = fmt::format("{}{}", kStep, *number);
    std::erase_if(steps, [&](const ProfilerEvent& step) { return step.name != wanted; });
    if (steps.empty())
      throw ConfigError(
          "--step", known.empty() ? "the trace does not mark steps: it has no event ProfilerStep#N"
                                  : fmt::format("expected a step of the trace: {}", known));
  }
  if (steps.empty()) return {std::move(all), {}, "the trace"};
  // The last step may lack its backward pass if the profiler was stopped inside it.
  const auto has_gradients = [&](const ProfilerEvent& step) {
    return std::ranges::any_of(
        all, [&](const ProfilerEvent& e) { return e.is_gradient() && step.holds(e); });
  };
  ProfilerEvent chosen = steps.back();
  for (const ProfilerEvent& step : steps)
    if (has_gradients(step)) chosen = step;
  ProfilerStep result{{}, chosen.duration_us(), chosen.name};
  // Kernels may run after the step that launched them has ended on the CPU.
  std::set<long> launched;
  for (const ProfilerEvent& event : all)
    if (!event.is_kernel() && chosen.holds(event))
      if (const auto id = event.argument("correlation")) launched.insert(*id);
  const auto is_launched = [&](const ProfilerEvent& kernel) {
    const auto id = kernel.argument("correlation");
    return id && launched.contains(*id);
  };
  for (ProfilerEvent& event : all)
    if (event.is_kernel() ? is_launched(event)
                          : chosen.holds(event) && event.pointer != chosen.pointer)
      result.events.push_back(std::move(event));
  return result;
}

}  // namespace trigram

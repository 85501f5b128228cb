#include "experiments/traces/profiler_passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/config/config_error.h"

namespace trigram {
namespace {

/// Reads the first entry of a list of shapes.
void read_shape(const ProfilerEvent& event, Gradient& gradient) {
  const Json shapes = event.args ? event.args->value(kShapes, Json()) : Json();
  const std::string pointer = fmt::format("{}/args/{}", event.pointer, kShapes);
  if (!shapes.is_array() || shapes.empty() || !shapes[0].is_array())
    throw ConfigError(pointer,
                      "expected the shape of a gradient, such as [[64, 128]]; record the trace "
                      "with record_shapes=True, and with a PyTorch that has Kineto");
  gradient.numel = 1;
  for (const Json& size : shapes[0]) {
    if (!size.is_number_integer() || size < 1 || size > (1LL << 40) ||
        gradient.numel > (std::size_t{1} << 40) / size.get<std::size_t>())
      throw ConfigError(pointer, fmt::format("expected sizes that are positive integers, not {}",
                                             shapes[0].dump().substr(0, 60)));
    gradient.numel *= size.get<std::size_t>();
  }
  gradient.dimensions = shapes[0].size();
  const Json types = event.args->value("Input type", Json());
  if (types.is_array() && !types.empty() && types[0].is_string())
    gradient.type = types[0].get<std::string>();
}

std::vector<Gradient> gradients_of(const ProfilerStep& step) {
  std::vector<Gradient> gradients;
  std::map<std::string, std::optional<long>> last;  // node of each thread that is no AccumulateGrad
  for (const ProfilerEvent& event : step.events) {
    if (event.is_gradient()) {
      Gradient gradient{.complete_us = event.end_us, .node = last[event.thread]};
      read_shape(event, gradient);
      gradients.push_back(std::move(gradient));
    } else if (!event.is_operation() && !event.is_kernel() &&
               event.name.find("Backward") != event.name.npos) {
      if (const auto number = event.argument("Sequence number")) last[event.thread] = number;
    }
  }
  if (gradients.empty())
    throw ConfigError("/traceEvents",
                      step.place +
                          " has no event torch::autograd::AccumulateGrad; expected a training step "
                          "with its backward pass");
  std::ranges::stable_sort(gradients, {}, &Gradient::complete_us);
  return gradients;
}

/// The thread with most of the operations that begin before the backward pass.
std::string forward_thread(const ProfilerStep& step, double backward_us) {
  std::map<std::string, int> counts;
  for (const ProfilerEvent& event : step.events)
    if (event.is_operation() && event.begin_us < backward_us) ++counts[event.thread];
  if (counts.empty())
    throw ConfigError("/traceEvents", step.place +
                                          " has no operation before its backward pass; "
                                          "expected a forward pass");
  return std::ranges::max_element(counts, {}, [](const auto& c) { return c.second; })->first;
}

/// The time before which no operation belongs to the forward pass: the end of the last call of the
/// optimizer or the data loader that comes before all operations with a backward node. Operations
/// before it are, for example, those of the profiler itself.
double forward_limit(const ProfilerStep& step, const std::string& thread, double backward_us) {
  std::set<long> backward;
  for (const ProfilerEvent& e : step.events)
    if (e.is_backward())
      if (const auto number = e.argument("Sequence number")) backward.insert(*number);
  // Operations that create no node have the number of the next node, so the last one counts.
  std::map<long, double> begins;
  for (const ProfilerEvent& e : step.events) {
    if (!e.is_operation() || e.thread != thread || e.begin_us >= backward_us) continue;
    const auto number = e.argument("Sequence number");
    if (number && *number >= 0 && backward.contains(*number)) begins[*number] = e.begin_us;
  }
  if (begins.empty()) return 0;
  const double first =
      std::ranges::min_element(begins, {}, [](const auto& b) { return b.second; })->second;
  double limit = 0;
  for (const ProfilerEvent& e : step.events)
    if (e.is_beside_passes() && e.thread == thread && e.end_us <= first)
      limit = std::max(limit, e.end_us);
  return limit;
}

/// A second pass would be computed after gradients of the first one, outside the autograd engine.
void check_single_pass(const ProfilerStep& step, const std::string& thread, double first_gradient) {
  double nodes_until = 0;
  std::map<long, double> backward;  // the last call of a node, by its number
  for (const ProfilerEvent& e : step.events)
    if (!e.is_operation() && !e.is_kernel())
      if (const auto number = e.argument("Sequence number")) backward[*number] = e.begin_us;
  for (const ProfilerEvent& e : step.events) {
    if (e.is_backward()) nodes_until = std::max(nodes_until, e.end_us);
    if (!e.is_operation() || e.thread != thread || e.begin_us < first_gradient ||
        e.end_us <= nodes_until)
      continue;
    const auto number = e.argument("Sequence number");
    if (number && *number >= 0 && backward.contains(*number) && backward[*number] > e.end_us)
      throw ConfigError(e.pointer, step.place +
                                       " has several passes; expected one step without gradient "
                                       "accumulation, or steps that profiler.step() ends");
  }
}

}  // namespace

Passes passes_of(const ProfilerStep& step) {
  Passes passes;
  passes.gradients = gradients_of(step);
  double backward_begin = passes.gradients.front().complete_us, backward_end = 0;
  for (const ProfilerEvent& event : step.events)
    if (event.is_backward()) {
      backward_begin = std::min(backward_begin, event.begin_us);
      backward_end = std::max(backward_end, event.end_us);
    }
  backward_end = std::max(backward_end, passes.gradients.back().complete_us);
  const std::string thread = forward_thread(step, backward_begin);
  check_single_pass(step, thread, passes.gradients.front().complete_us);
  const double limit = forward_limit(step, thread, backward_begin);
  std::vector<ProfilerEvent> beside;
  std::optional<double> begin, module_begin;
  double end = 0;
  for (const ProfilerEvent& event : step.events) {
    if (event.thread != thread || event.begin_us < limit || event.begin_us >= backward_begin)
      continue;
    if (event.is_beside_passes()) beside.push_back(event);
    if (event.is_module() && !module_begin) module_begin = event.begin_us;
    if (!event.is_operation() ||
        std::ranges::any_of(beside, [&](const ProfilerEvent& b) { return b.holds(event); }))
      continue;
    if (!begin) begin = event.begin_us;
    end = std::max(end, event.end_us);
  }
  if (!begin) throw ConfigError("/traceEvents", step.place + " has no operation of a forward pass");
  passes.whole.thread = passes.forward.thread = thread;
  passes.whole.begin_us = passes.forward.begin_us = module_begin.value_or(*begin);
  passes.forward.end_us = end;
  passes.whole.end_us = std::max(end, backward_end);
  return passes;
}

}  // namespace trigram

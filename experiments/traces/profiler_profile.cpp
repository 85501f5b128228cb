#include "experiments/traces/profiler_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "experiments/traces/device_clock.h"
#include "experiments/traces/forward_layers.h"
#include "experiments/traces/profiler_passes.h"
#include "experiments/traces/trace_document.h"

namespace trigram {
namespace {

/// A row of the profile.
struct ProfileRow {
  Gradient gradient;
  std::optional<ForwardLayer> layer = {};
  std::string tensor = {};
  double forward_s = 0;
};

/// Names the tensors of a layer "weight" and "bias" if their shapes tell them apart.
void name_tensors(std::vector<ProfileRow>& rows) {
  std::map<std::string, std::vector<ProfileRow*>> by_layer;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].layer) by_layer[rows[i].layer->name].push_back(&rows[i]);
    else rows[i].tensor = fmt::format("gradient_{}", i);
  for (auto& [name, of_layer] : by_layer) {
    const auto matrices = std::ranges::count_if(
        of_layer, [](const ProfileRow* row) { return row->gradient.dimensions >= 2; });
    const bool distinct =
        matrices == 1 &&
        (of_layer.size() == 1 ||
         (of_layer.size() == 2 &&
          std::min(of_layer[0]->gradient.dimensions, of_layer[1]->gradient.dimensions) == 1));
    for (std::size_t i = 0; i < of_layer.size(); ++i)
      of_layer[i]->tensor =
          distinct ? fmt::format("{}.{}", name,
                                 of_layer[i]->gradient.dimensions >= 2 ? "weight" : "bias")
                   : fmt::format("{}.{}", name, i);
  }
}

/// Gives each layer's forward time to its tensor whose gradient is complete last.
void time_layers(const Passes& passes, const DeviceClock& clock, std::vector<ProfileRow>& rows,
                 std::vector<std::string>& assumed) {
  std::map<double, ProfileRow*> layers;  // by the layer's end
  for (ProfileRow& row : rows)
    if (row.layer) layers[row.layer->end_us] = &row;
  const double total = clock.done_us(passes.forward.end_us);
  if (layers.empty()) {
    assumed.push_back(
        "the trace has no sequence numbers, so the forward pass is not divided among layers; its "
        "first tensor has all of the time");
    rows.back().forward_s = total * 1e-6;
    return;
  }
  double done = 0;
  for (auto layer = layers.begin(); layer != layers.end(); ++layer) {
    const bool last = std::next(layer) == layers.end();
    const double until = last ? total : clock.done_us(layer->first);
    layer->second->forward_s = (until - done) * 1e-6;
    if (last)
      assumed.push_back(
          fmt::format("{:.4g} ms of the forward pass after {} (the loss) count for it",
                      (total - clock.done_us(layer->first)) * 1e-3, layer->second->layer->name));
    done = until;
  }
  const auto unknown =
      std::ranges::count_if(rows, [](const ProfileRow& row) { return !row.layer.has_value(); });
  if (unknown > 0)
    assumed.push_back(fmt::format(
        "{} gradients belong to no operation of the forward pass in the trace; their layers' time "
        "counts for the next layer",
        unknown));
}

std::string milliseconds(double us) { return fmt::format("{:.4g} ms", us * 1e-3); }

/// Lists what the trace contains besides the passes.
void list_rest(const ProfilerStep& step, const Passes& passes, const DeviceClock& clock,
               std::vector<std::string>& assumed) {
  std::map<std::string, std::pair<int, double>> beside;
  double beside_us = 0, exchange_us = 0, other_us = 0;
  int exchanges = 0, others = 0;
  std::set<std::string> threads = {passes.whole.thread};
  for (const ProfilerEvent& e : step.events)
    if (e.is_gradient()) threads.insert(e.thread);
  std::map<std::string, double> other_until;
  for (const ProfilerEvent& e : step.events) {
    if (e.is_exchange() && (!clock.on_accelerator() || e.is_kernel())) {
      ++exchanges;
      exchange_us += e.duration_us();
    } else if (e.is_beside_passes() && !e.category.starts_with("gpu")) {
      auto& [count, us] = beside[e.name.substr(0, e.name.find('#'))];
      ++count;
      us += e.duration_us();
      beside_us += e.duration_us();
    } else if (e.is_operation() && !threads.contains(e.thread) &&
               e.begin_us >= other_until[e.thread]) {
      ++others;
      other_us += e.duration_us();
      other_until[e.thread] = e.end_us;
    }
  }
  for (const auto& [name, calls] : beside)
    assumed.push_back(left_out(fmt::format("{}, {}", name, milliseconds(calls.second))));
  if (exchanges > 0)
    assumed.push_back(left_out(
        fmt::format("{} events of communication, {}", exchanges, milliseconds(exchange_us))));
  if (others > 0)
    assumed.push_back(left_out(
        fmt::format("{} operations of other threads, {}", others, milliseconds(other_us))));
  if (!step.length_us) return;
  const double rest = *step.length_us - clock.done_us(passes.whole.end_us) - beside_us;
  assumed.push_back(clock.on_accelerator()
                        ? fmt::format("{} takes {} on the CPU; times are those of kernels",
                                      step.place, milliseconds(*step.length_us))
                        : left_out(fmt::format("{} of {} outside all operations named here",
                                               milliseconds(std::max(rest, 0.0)), step.place)));
}

std::size_t batch_of(const ForwardLayers& layers, std::vector<std::string>& assumed) {
  for (const ProfilerEvent& operation : layers.operations()) {
    const Json shapes = operation.args ? operation.args->value(kShapes, Json()) : Json();
    if (!shapes.is_array() || shapes.empty() || !shapes[0].is_array() || shapes[0].empty() ||
        !shapes[0][0].is_number_unsigned() || shapes[0][0] < 1)
      continue;
    const auto batch = shapes[0][0].get<std::size_t>();
    assumed.push_back(
        fmt::format("batch {}: the first size of the first input of {}", batch, operation.name));
    return batch;
  }
  assumed.push_back("batch 1: the trace has no shape of an input");
  return 1;
}

}  // namespace

Profile profile_of_profiler_trace(const Json& document, const TraceImportOptions& options) {
  const ProfilerStep step = read_profiler_step(document, options.step);
  const Passes passes = passes_of(step);
  const DeviceClock clock(step, passes.whole);
  ForwardLayers layers(step, passes.forward);
  std::vector<ProfileRow> rows;
  for (const Gradient& gradient : passes.gradients) {
    rows.push_back({gradient, {}, {}, 0});
    if (gradient.node) rows.back().layer = layers.layer_of(*gradient.node);
  }
  name_tensors(rows);
  Profile profile;
  std::vector<std::string>& assumed = profile.assumed;
  profile.batch = options.batch ? *options.batch : batch_of(layers, assumed);
  time_layers(passes, clock, rows, assumed);
  std::set<std::string> types;
  double done = clock.done_us(passes.forward.end_us);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [gradient, layer, tensor, forward_s] = rows[i];
    const bool last = i + 1 == rows.size();
    const double until = clock.done_us(last ? passes.whole.end_us : gradient.complete_us);
    profile.tensors.push_back(
        {tensor, gradient.numel, forward_s, std::max(until - done, 0.0) * 1e-6, {}, {}});
    done = std::max(done, until);
    if (!gradient.type.empty() && gradient.type != "float") types.insert(gradient.type);
  }
  std::ranges::reverse(profile.tensors);
  for (const std::string& type : types)
    assumed.push_back(fmt::format("gradients of type {} are exchanged as f32", type));
  assumed.emplace_back("a trace shows neither buffers nor parameters without a gradient");
  list_rest(step, passes, clock, assumed);
  const Json devices = document.is_object() ? document.value("deviceProperties", Json()) : Json();
  if (clock.on_accelerator() && devices.is_array() && !devices.empty() && devices[0].is_object() &&
      devices[0].value("name", Json()).is_string())
    profile.measured_on.name = devices[0]["name"].get<std::string>();
  profile.sources.push_back(step.place);
  return profile;
}

}  // namespace trigram

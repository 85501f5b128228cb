#include "experiments/run/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace trigram {
namespace {

constexpr double kTouching_s = 1e-9;  // slices of computation that are closer than this are merged

const char* name_of(Event::Kind kind) {
  switch (kind) {
    case Event::compute: return "compute";
    case Event::wait: return "wait";
    case Event::delay: return "delay";
    default: return "transfer";
  }
}

/// The phase of a step; null if the slice belongs to none.
Json phase_of(const StepLabel& label) {
  if (label.phase == StepLabel::none) return nullptr;
  return label.phase == StepLabel::forward ? "forward" : "backward";
}

/// The kind of an operation on vectors; null for the model's own computation.
Json operation_of(Cost::Kind kind) {
  switch (kind) {
    case Cost::Kind::codec: return "codec";
    case Cost::Kind::reduction: return "reduction";
    case Cost::Kind::copy: return "copy";
    case Cost::Kind::synchronization: return "synchronization";
    case Cost::Kind::host: return "host";
    case Cost::Kind::other: break;
  }
  return nullptr;
}

bool same(const StepLabel& a, const StepLabel& b) {
  return a.phase == b.phase && a.bucket == b.bucket;
}

/// Converts to microseconds, rounded to a picosecond, so that the numbers in the file are short.
double microseconds(double seconds) { return std::round(seconds * 1e12) / 1e6; }

Json metadata(const char* what, int pid, int tid, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", pid}, {"tid", tid}, {"args", {{"name", name}}}};
}

}  // namespace

EventSink Timeline::sink(int rank, const Steps& steps) {
  if (rank < 0 || static_cast<std::size_t>(rank) >= ranks_.size()) return {};
  return [this, &buffer = ranks_[static_cast<std::size_t>(rank)], &steps](const Event& event) {
    std::lock_guard lock(buffer.mutex);
    // Another stream may have begun this within the step, and the step has ended meanwhile.
    const bool drawn = steps.current() == step_ || event.begin_s < buffer.end_s;
    record_event(buffer, event, drawn);
  };
}

void Timeline::record_event(Rank& rank, const Event& event, bool drawn) const {
  if (event.kind == Event::send || event.kind == Event::recv)
    return record_message(rank, event, drawn);
  if (!drawn) return;
  auto& slices = rank.streams[event.stream];
  const bool extends =
      event.kind == Event::compute && !slices.empty() && slices.back().kind == Event::compute &&
      same(slices.back().label, event.label) && slices.back().operation == event.operation &&
      std::abs(event.begin_s - slices.back().end_s) < kTouching_s;
  if (extends) slices.back().end_s = event.end_s;
  else
    slices.push_back({event.kind, event.begin_s, event.end_s, event.bytes, event.batch, event.label,
                      event.operation});
}

void Timeline::record_message(Rank& rank, const Event& event, bool drawn) const {
  const bool is_send = event.kind == Event::send;
  const int source = is_send ? event.rank : event.peer;
  const int destination = is_send ? event.peer : event.rank;
  const long index = rank.counts[{event.stream, source, destination}]++;
  if (!drawn) return;
  // The event of a batch precedes those of its messages.
  auto& slices = rank.streams[event.stream];
  if (!slices.empty() && slices.back().kind == Event::transfer &&
      slices.back().batch == event.batch)
    slices.back().peers.push_back(event.peer);
  if (static_cast<std::size_t>(event.peer) >= ranks_.size()) return;
  // An arrow binds to the slice that encloses its end, so the end must not lie on the slice's edge.
  const double inset_s = (event.end_s - event.begin_s) / 1000;
  rank.flows.push_back(
      {fmt::format("{} {}>{} #{}", event.stream, source, destination, index), is_send, event.stream,
       is_send ? event.begin_s + inset_s : event.end_s - inset_s, event.bytes, event.batch});
}

void Timeline::delay(int rank, const std::string& stream, double begin_s, double end_s) {
  if (static_cast<std::size_t>(rank) >= ranks_.size() || !(end_s > begin_s)) return;
  Rank& buffer = ranks_[static_cast<std::size_t>(rank)];
  std::lock_guard lock(buffer.mutex);
  buffer.streams[stream].push_back({Event::delay, begin_s, end_s});
}

void Timeline::end_step(int rank, const std::string& stream, double begin_s, double end_s,
                        bool fill) {
  if (static_cast<std::size_t>(rank) >= ranks_.size()) return;
  Rank& buffer = ranks_[static_cast<std::size_t>(rank)];
  std::lock_guard lock(buffer.mutex);
  buffer.begin_s = begin_s;
  buffer.end_s = end_s;
  if (!fill) return;
  std::vector<Slice> filled;
  double reached_s = begin_s;
  for (const Slice& slice : buffer.streams[stream]) {
    if (slice.kind == Event::compute) continue;
    if (slice.begin_s > reached_s) filled.push_back({Event::compute, reached_s, slice.begin_s});
    filled.push_back(slice);
    reached_s = std::max(reached_s, slice.end_s);
  }
  if (end_s > reached_s) filled.push_back({Event::compute, reached_s, end_s});
  buffer.streams[stream] = std::move(filled);
}

Json Timeline::arguments_of(const Slice& slice) {
  Json arguments = Json::object();
  if (const Json phase = phase_of(slice.label); !phase.is_null()) arguments["phase"] = phase;
  if (slice.label.bucket >= 0) arguments["bucket"] = slice.label.bucket;
  if (const Json operation = operation_of(slice.operation); !operation.is_null())
    arguments["operation"] = operation;
  if (slice.kind != Event::transfer) return arguments;
  arguments["bytes_sent"] = slice.bytes;
  arguments["batch"] = slice.batch;
  std::vector<int> peers = slice.peers;
  std::ranges::sort(peers);
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  arguments["peers"] = peers;
  return arguments;
}

void Timeline::append(const Rank& rank, int pid, double origin_s, Json& events) {
  events.push_back(metadata("process_name", pid, 0, fmt::format("rank {}", pid)));
  int tid = 0;
  for (const auto& [stream, slices] : rank.streams) {
    events.push_back(metadata("thread_name", pid, ++tid, stream));
    for (const Slice& s : slices) {
      Json event = {{"ph", "X"},
                    {"name", name_of(s.kind)},
                    {"cat", name_of(s.kind)},
                    {"pid", pid},
                    {"tid", tid},
                    {"ts", microseconds(s.begin_s - origin_s)},
                    {"dur", microseconds(s.end_s - s.begin_s)}};
      if (Json arguments = arguments_of(s); !arguments.empty())
        event["args"] = std::move(arguments);
      events.push_back(std::move(event));
    }
    for (const Flow& f : rank.flows) {
      if (f.stream != stream) continue;
      Json event = {{"ph", f.is_send ? "s" : "f"},
                    {"name", "message"},
                    {"cat", "message"},
                    {"id", f.id},
                    {"pid", pid},
                    {"tid", tid},
                    {"ts", microseconds(f.at_s - origin_s)},
                    {"args", {{"bytes", f.bytes}, {"batch", f.batch}}}};
      if (!f.is_send) event["bp"] = "e";
      events.push_back(std::move(event));
    }
  }
}

std::string Timeline::rank_to_bytes(int rank) const {
  if (static_cast<std::size_t>(rank) >= ranks_.size()) return "";
  const Rank& buffer = ranks_[static_cast<std::size_t>(rank)];
  Json streams = Json::object(), flows = Json::array();
  for (const auto& [stream, slices] : buffer.streams)
    for (const Slice& s : slices)
      streams[stream].push_back({static_cast<int>(s.kind), s.begin_s, s.end_s, s.bytes, s.batch,
                                 static_cast<int>(s.label.phase), s.label.bucket,
                                 static_cast<int>(s.operation), s.peers});
  for (const Flow& f : buffer.flows)
    flows.push_back({f.id, f.is_send, f.stream, f.at_s, f.bytes, f.batch});
  return Json{{"streams", streams}, {"flows", flows}, {"step", {buffer.begin_s, buffer.end_s}}}
      .dump();
}

void Timeline::rank_from_bytes(int rank, const std::string& bytes) {
  if (bytes.empty()) return;
  Rank& buffer = ranks_.at(static_cast<std::size_t>(rank));
  const Json j = Json::parse(bytes);
  for (const auto& [stream, slices] : j.at("streams").items())
    for (const Json& s : slices)
      buffer.streams[stream].push_back(
          {static_cast<Event::Kind>(s.at(0).get<int>()),
           s.at(1),
           s.at(2),
           s.at(3),
           s.at(4),
           {static_cast<StepLabel::Phase>(s.at(5).get<int>()), s.at(6)},
           static_cast<Cost::Kind>(s.at(7).get<int>()),
           s.at(8).get<std::vector<int>>()});
  for (const Json& f : j.at("flows"))
    buffer.flows.push_back({f.at(0), f.at(1), f.at(2), f.at(3), f.at(4), f.at(5)});
  buffer.begin_s = j.at("step").at(0);
  buffer.end_s = j.at("step").at(1);
}

Json Timeline::to_json(std::optional<double> given_origin_s) const {
  double origin_s = given_origin_s.value_or(std::numeric_limits<double>::infinity());
  for (const Rank& rank : ranks_)
    for (const auto& [stream, slices] : rank.streams)
      for (const Slice& s : slices)
        if (!given_origin_s) origin_s = std::min(origin_s, s.begin_s);
  if (!std::isfinite(origin_s)) origin_s = 0;  // there is no event
  Json events = Json::array();
  Json spans = Json::array();
  int pid = 0;
  for (const Rank& rank : ranks_) {
    append(rank, pid++, origin_s, events);
    spans.push_back({microseconds(rank.begin_s - origin_s), microseconds(rank.end_s - origin_s)});
  }
  return {{"displayTimeUnit", "ms"},
          {"otherData", {{"step", step_}, {"spans_us", std::move(spans)}, {"buckets", buckets_}}},
          {"traceEvents", std::move(events)}};
}

}  // namespace trigram

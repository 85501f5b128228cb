#include "netmodels/failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/random/philox.h"

namespace trigram {
namespace {

constexpr double kNever_s = std::numeric_limits<double>::infinity();

OptionType<std::int64_t> index_if_given() {
  return dumped_if(integer(0), [](std::int64_t index) { return index >= 0; });
}

FieldTable<Failure> failure_fields() {
  return FieldTable<Failure>{}
      .required("at", &Failure::at_s, quantity(Dimension::duration),
                "when it fails, from the first step of the job on")
      .required(
          "kind", &Failure::kind,
          one_of<Failure::Kind>({{"crash", Failure::Kind::crash},
                                 {"freeze", Failure::Kind::freeze},
                                 {"leave", Failure::Kind::leave},
                                 {"join", Failure::Kind::join}}),
          "crash: its processes end without a word; freeze: they stop for a time; leave: they "
          "end as announced; join: processes begin that were not there")
      .field("rank", &Failure::rank, index_if_given(), "the worker that fails")
      .field("node", &Failure::node, index_if_given(), "the node whose workers fail")
      .field("for", &Failure::duration_s, quantity(Dimension::duration), "how long a freeze lasts")
      .only_where([](const Failure& f) { return f.kind == Failure::Kind::freeze; },
                  "has no effect here; expected the kind \"freeze\"");
}

FieldTable<Failures> failures_fields() {
  return FieldTable<Failures>{}
      .field("events", &Failures::events, list_of(nested(failure_fields())),
             "failures, in the order of time")
      .field("mtbf", &Failures::node_mtbf_s, quantity(Dimension::duration),
             "mean time between crashes of a node, which are a Poisson process; 0: none")
      .field("seed", &Failures::seed, integer(0), "seed of the draws of crashes")
      .only_where([](const Failures& f) { return f.node_mtbf_s > 0; },
                  "has no effect here; expected a \"mtbf\" above 0 beside it")
      .field("detection", &Failures::detection_s, quantity(Dimension::duration),
             "time from a crash until all other workers have noticed it, in simulated runs")
      .field("restart", &Failures::restart_s, quantity(Dimension::duration),
             "time from then on until training goes on, in simulated runs")
      .field("recovery", &Failures::recovery,
             dumped_if(one_of<Recovery>(
                           {{"in_place", Recovery::in_place}, {"restart", Recovery::restart}}),
                       [](Recovery recovery) { return recovery != Recovery::in_place; }),
             "in_place: workers carry on without those that fail, if the algorithm can; restart: "
             "all workers restart from the last checkpoint")
      .field("replace", &Failures::replace,
             dumped_if(boolean(), [](bool replace) { return !replace; }),
             "whether a crashed worker is replaced, after `restart`; otherwise only by a join")
      .only_where([](const Failures& f) { return f.recovery == Recovery::in_place; },
                  "has no effect here; expected the recovery \"in_place\"");
}

/// A cluster whose nodes crash more often would not get far, and the draws would take long.
constexpr double kShortestMtbf_s = 1e-3;

void check_events(const Failures& failures, const std::string& pointer) {
  for (std::size_t i = 0; i < failures.events.size(); ++i) {
    const Failure& event = failures.events[i];
    const std::string at = child(pointer, std::to_string(i));
    if ((event.rank < 0) == (event.node < 0))
      throw ConfigError(at, "expected either \"rank\" or \"node\"");
    if (event.kind == Failure::Kind::freeze && event.duration_s <= 0)
      throw ConfigError(child(at, "for"), "expected how long the freeze lasts, above 0");
    if (i > 0 && event.at_s < failures.events[i - 1].at_s)
      throw ConfigError(
          child(at, "at"),
          fmt::format("expected events in the order of time; the one before is at {:g} s",
                      failures.events[i - 1].at_s));
  }
}

/// Follows who is there through the events.
void check_who_is_there(const Failures& failures, std::int64_t nodes, std::int64_t workers_per_node,
                        const std::string& pointer) {
  std::vector<bool> there(static_cast<std::size_t>(nodes * workers_per_node));
  for (std::size_t rank = 0; rank < there.size(); ++rank)
    there[rank] = begins_there(failures, static_cast<int>(rank), workers_per_node);
  if (std::ranges::find(there, true) == there.end())
    throw ConfigError(pointer,
                      "expected a worker that is there at the beginning; all of them join");
  for (std::size_t i = 0; i < failures.events.size(); ++i) {
    const Failure& event = failures.events[i];
    if (event.kind == Failure::Kind::freeze) continue;
    const bool joins = event.kind == Failure::Kind::join;
    for (int rank = event.first_rank(workers_per_node); rank <= event.last_rank(workers_per_node);
         ++rank) {
      auto is_there = there[static_cast<std::size_t>(rank)];
      if (is_there == joins)
        throw ConfigError(
            child(child(pointer, std::to_string(i)), event.rank >= 0 ? "rank" : "node"),
            fmt::format("expected {}; the worker of rank {} is {} at {:g} s",
                        joins ? "a worker that is not there" : "a worker that is there", rank,
                        joins ? "there" : "not there", event.at_s));
      is_there = joins || (event.kind == Failure::Kind::crash && failures.replace);
    }
  }
}

}  // namespace

int Failure::first_rank(std::int64_t workers_per_node) const {
  return static_cast<int>(rank >= 0 ? rank : node * workers_per_node);
}

int Failure::last_rank(std::int64_t workers_per_node) const {
  return static_cast<int>(rank >= 0 ? rank : (node + 1) * workers_per_node - 1);
}

OptionType<Failures> failures_kind() {
  static const FieldTable<Failures> fields = failures_fields();
  const auto parse = [](const Json& j, const std::string& pointer) {
    const bool is_list = j.is_array();
    Failures failures;
    if (is_list) failures.events = list_of(nested(failure_fields())).parse(j, pointer);
    else failures = fields.parse(j, pointer);
    if (failures.node_mtbf_s > 0 && failures.node_mtbf_s < kShortestMtbf_s)
      throw ConfigError(child(pointer, "mtbf"),
                        fmt::format("expected at least {:g} s, or 0", kShortestMtbf_s));
    check_events(failures, is_list ? pointer : child(pointer, "events"));
    return failures;
  };
  Json schema = {{"anyOf", {fields.schema(), list_of(nested(failure_fields())).schema}}};
  return {parse, [](const Failures& failures) { return fields.dump(failures); }, std::move(schema)};
}

void check_failures(const Failures& failures, std::int64_t nodes, std::int64_t workers_per_node,
                    const std::string& pointer) {
  for (std::size_t i = 0; i < failures.events.size(); ++i) {
    const Failure& event = failures.events[i];
    const std::string at = child(pointer, std::to_string(i));
    if (event.rank >= nodes * workers_per_node)
      throw ConfigError(child(at, "rank"),
                        fmt::format("expected a rank below {}, the number of workers, not {}",
                                    nodes * workers_per_node, event.rank));
    if (event.node >= nodes)
      throw ConfigError(child(at, "node"),
                        fmt::format("expected a node below {}, not {}", nodes, event.node));
  }
  check_who_is_there(failures, nodes, workers_per_node, pointer);
}

bool begins_there(const Failures& failures, int rank, std::int64_t workers_per_node) {
  for (const Failure& event : failures.events)
    if (event.kind != Failure::Kind::freeze && event.first_rank(workers_per_node) <= rank &&
        rank <= event.last_rank(workers_per_node))
      return event.kind != Failure::Kind::join;
  return true;
}

std::vector<Failure> freezes_of(const Failures& failures, int rank, std::int64_t workers_per_node) {
  std::vector<Failure> freezes;
  for (const Failure& event : failures.events)
    if (event.kind == Failure::Kind::freeze && event.first_rank(workers_per_node) <= rank &&
        rank <= event.last_rank(workers_per_node))
      freezes.push_back(event);
  return freezes;
}

FailureSequence::FailureSequence(const Failures& failures, std::int64_t nodes)
    : failures_(failures) {
  if (failures.node_mtbf_s <= 0) return;
  crash_s_.resize(static_cast<std::size_t>(nodes));
  drawn_.resize(static_cast<std::size_t>(nodes));
  for (std::size_t node = 0; node < crash_s_.size(); ++node) draw(node);
}

void FailureSequence::draw(std::size_t node) {
  Philox random(static_cast<std::uint64_t>(failures_.seed), static_cast<int>(node), drawn_[node]++,
                Purpose::failure);
  // 1 - uniform is in (0, 1]; two draws make the steps of the logarithm fine enough.
  const double u =
      1 - (static_cast<double>(random.uniform()) + static_cast<double>(random.uniform()) * 0x1p-24);
  crash_s_[node] += -failures_.node_mtbf_s * std::log(u);
}

Failure FailureSequence::next_crash(double from_s) {
  Failure failure = next(from_s);
  while (std::isfinite(failure.at_s) && failure.kind != Failure::Kind::crash)
    failure = next(failure.at_s);
  return failure;
}

Failure FailureSequence::next(double from_s) {
  const auto& events = failures_.events;
  while (next_event_ < events.size() && events[next_event_].at_s < from_s) ++next_event_;
  Failure first{.at_s = kNever_s};
  if (next_event_ < events.size()) first = events[next_event_];
  std::optional<std::size_t> crashed;
  for (std::size_t node = 0; node < crash_s_.size(); ++node) {
    while (crash_s_[node] < from_s) draw(node);
    if (crash_s_[node] >= first.at_s) continue;
    first = {.at_s = crash_s_[node], .node = static_cast<std::int64_t>(node)};
    crashed = node;
  }
  if (crashed) draw(*crashed);
  else if (next_event_ < events.size()) ++next_event_;
  return first;
}

}  // namespace trigram

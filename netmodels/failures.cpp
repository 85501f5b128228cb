#include "netmodels/failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace trigram {
namespace {

OptionType<std::int64_t> index_if_given() {
  return dumped_if(integer(0), [](std::int64_t index) { return index >= 0; });
}

using FailureKind = Failure::Kind;

constexpr const char* kOnlyPartition = "has no effect here; expected the kind \"partition\"";

FieldTable<Failure> failure_fields() {
  const auto is_partition = [](const Failure& f) { return f.kind == FailureKind::partition; };
  return FieldTable<Failure>{}
      .required("at", &Failure::at_s, quantity(Dimension::duration),
                "when it fails, from the first step of the job on")
      .required("kind", &Failure::kind,
                one_of<Failure::Kind>({{"crash", FailureKind::crash},
                                       {"freeze", FailureKind::freeze},
                                       {"partition", FailureKind::partition},
                                       {"leave", FailureKind::leave},
                                       {"join", FailureKind::join}}),
                "crash: its processes end without a word; freeze: they stop for a time; partition: "
                "links carry nothing for a time; leave: processes end as announced; join: "
                "processes begin that were not there")
      .field("rank", &Failure::rank, index_if_given(), "the worker that fails")
      .field("node", &Failure::node, index_if_given(),
             "the node whose workers fail, or that leaves or joins")
      .field("link", &Failure::link,
             dumped_if(text(), [](const std::string& name) { return !name.empty(); }),
             "the link that a partition cuts in both directions, such as \"worker 0 > switch 0\"")
      .only_where(is_partition, kOnlyPartition)
      .field("nodes", &Failure::nodes,
             dumped_if(list_of(integer(0)), [](const auto& nodes) { return !nodes.empty(); }),
             "the nodes that a partition cuts off the others")
      .only_where(is_partition, kOnlyPartition)
      .field("for", &Failure::duration_s, quantity(Dimension::duration),
             "how long a freeze or a partition lasts")
      .only_where(
          [](const Failure& f) {
            return f.has({FailureKind::freeze, FailureKind::partition});
          },
          "has no effect here; expected the kind \"freeze\" or \"partition\"");
}

bool has_crashes(const Failures& f) {
  return f.node_mtbf_s > 0 || std::ranges::any_of(f.events, [](const Failure& event) {
           return event.kind == FailureKind::crash;
         });
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
      .only_where([](const Failures& f) { return has_crashes(f) && !f.heartbeats; },
                  "has no effect here; expected crashes (\"events\" or \"mtbf\") beside it, and no "
                  "heartbeats, which decide when a crash is noticed")
      .field("restart", &Failures::restart_s, quantity(Dimension::duration),
             "time from then on until training goes on, in simulated runs")
      .only_where(
          [](const Failures& f) {
            return has_crashes(f) || !node_changes(f).empty() || f.heartbeats;
          },
          "has no effect here; expected crashes, nodes that leave or join, or heartbeats beside it")
      .field("heartbeats", &Failures::heartbeats, heartbeats_kind(),
             "messages by which workers show that they are there, in simulated runs; crashes are "
             "noticed when none has arrived for a time")
      .field("recovery", &Failures::recovery,
             dumped_if(one_of<Recovery>(
                           {{"in_place", Recovery::in_place}, {"restart", Recovery::restart}}),
                       [](Recovery recovery) { return recovery != Recovery::in_place; }),
             "in_place: workers carry on without those that fail, if the algorithm can; restart: "
             "all workers restart from the last checkpoint")
      .field("replace", &Failures::replace,
             dumped_if(boolean(), [](bool replace) { return !replace; }),
             "whether a crashed worker is replaced, after `restart`; otherwise only by a join")
      .only_where(
          [](const Failures& f) { return f.recovery == Recovery::in_place && has_crashes(f); },
          "has no effect here; expected crashes, and the recovery \"in_place\"");
}

/// A cluster whose nodes crash more often would not get far, and the draws would take long.
constexpr double kShortestMtbf_s = 1e-3;

/// Checks that an event names what its kind is about, and nothing else.
void check_subject(const Failure& event, const std::string& at) {
  const bool rank = event.rank >= 0, node = event.node >= 0;
  const bool link = !event.link.empty(), nodes = !event.nodes.empty();
  if (event.kind == FailureKind::partition) {
    if (rank || node || link == nodes)
      throw ConfigError(at, "expected either \"link\" or \"nodes\", which a partition cuts off");
  } else if (rank == node) {
    throw ConfigError(at, "expected either \"rank\" or \"node\"");
  }
}

void check_events(const Failures& failures, const std::string& pointer) {
  for (std::size_t i = 0; i < failures.events.size(); ++i) {
    const Failure& event = failures.events[i];
    const std::string at = child(pointer, std::to_string(i));
    check_subject(event, at);
    if (event.has({FailureKind::freeze, FailureKind::partition}) && event.duration_s <= 0)
      throw ConfigError(child(at, "for"),
                        fmt::format("expected how long the {} lasts, above 0",
                                    event.kind == FailureKind::freeze ? "freeze" : "partition"));
    if (i > 0 && event.at_s < failures.events[i - 1].at_s)
      throw ConfigError(
          child(at, "at"),
          fmt::format("expected events in the order of time; the one before is at {:g} s",
                      failures.events[i - 1].at_s));
  }
}

void check_isolated(const std::vector<std::int64_t>& isolated, std::int64_t nodes,
                    const std::string& pointer) {
  if (isolated.empty()) return;
  for (const std::int64_t node : isolated)
    if (node >= nodes)
      throw ConfigError(pointer, fmt::format("expected nodes below {}, not {}", nodes, node));
  const std::set<std::int64_t> different(isolated.begin(), isolated.end());
  if (different.size() < isolated.size() || std::ssize(isolated) == nodes)
    throw ConfigError(pointer, "expected different nodes, and at least one other node");
}

/// Follows who is there through the events.
void check_who_is_there(const Failures& failures, std::int64_t nodes, std::int64_t workers_per_node,
                        const std::string& pointer) {
  std::int64_t all_nodes = nodes;
  for (const Failure& event : failures.events) all_nodes = std::max(all_nodes, event.node + 1);
  std::vector<bool> there(static_cast<std::size_t>(all_nodes * workers_per_node));
  for (std::int64_t rank = 0; rank < nodes * workers_per_node; ++rank)
    there[static_cast<std::size_t>(rank)] =
        begins_there(failures, static_cast<int>(rank), workers_per_node);
  if (std::ranges::find(there, true) == there.end())
    throw ConfigError(pointer,
                      "expected a worker that is there at the beginning; all of them join");
  for (std::size_t i = 0; i < failures.events.size(); ++i) {
    const Failure& event = failures.events[i];
    if (event.has({FailureKind::freeze, FailureKind::partition})) continue;
    const bool joins = event.kind == FailureKind::join;
    for (int rank = event.first_rank(workers_per_node); rank <= event.last_rank(workers_per_node);
         ++rank) {
      auto is_there = there[static_cast<std::size_t>(rank)];
      if (is_there == joins)
        throw ConfigError(
            child(child(pointer, std::to_string(i)), event.rank >= 0 ? "rank" : "node"),
            fmt::format("expected {}; the worker of rank {} is {} at {:g} s",
                        joins ? "a worker that is not there" : "a worker that is there", rank,
                        joins ? "there" : "not there", event.at_s));
      is_there = joins || (event.kind == FailureKind::crash && failures.replace);
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
  const auto schema = []() -> Json {
    return {{"anyOf", {fields.schema(), list_of(nested(failure_fields())).schema()}}};
  };
  return {parse, [](const Failures& failures) { return fields.dump(failures); }, schema};
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
    if (event.node >= nodes && event.kind != FailureKind::join)
      throw ConfigError(child(at, "node"),
                        fmt::format("expected a node below {}, not {}", nodes, event.node));
    check_isolated(event.nodes, nodes, child(at, "nodes"));
  }
  check_who_is_there(failures, nodes, workers_per_node, pointer);
}

bool begins_there(const Failures& failures, int rank, std::int64_t workers_per_node) {
  for (const Failure& event : failures.events)
    if (!event.has({FailureKind::freeze, FailureKind::partition}) &&
        event.first_rank(workers_per_node) <= rank && rank <= event.last_rank(workers_per_node))
      return event.kind != FailureKind::join;
  return true;
}

void check_node_changes(const Failures& failures, std::int64_t nodes, const std::string& pointer) {
  std::set<std::int64_t> present;
  for (std::int64_t node = 0; node < nodes; ++node) present.insert(present.end(), node);
  for (const Failure& event : node_changes(failures)) {
    const bool joins = event.kind == FailureKind::join;
    if (event.node < 0)
      throw ConfigError(pointer, fmt::format("in a job that restarts, only whole nodes leave and "
                                             "join; expected \"node\" in place of \"rank\": {}",
                                             event.rank));
    if (present.contains(event.node) == joins)
      throw ConfigError(pointer,
                        fmt::format("node {} is {} at {:g} s; expected another node", event.node,
                                    joins ? "there" : "not there", event.at_s));
    if (joins) present.insert(event.node);
    else present.erase(event.node);
    if (present.empty())
      throw ConfigError(pointer, "the last node leaves; expected that one stays");
  }
}

std::vector<Failure> node_changes(const Failures& failures) {
  std::vector<Failure> changes;
  std::ranges::copy_if(failures.events, std::back_inserter(changes), [](const Failure& f) {
    return f.has({FailureKind::leave, FailureKind::join});
  });
  return changes;
}

std::vector<std::int64_t> node_counts(const Failures& failures, std::int64_t nodes) {
  std::vector<std::int64_t> counts = {nodes};
  for (const Failure& change : node_changes(failures))
    counts.push_back(counts.back() + (change.kind == FailureKind::join ? 1 : -1));
  return counts;
}

std::vector<Failure> freezes_of(const Failures& failures, int rank, std::int64_t workers_per_node) {
  std::vector<Failure> freezes;
  for (const Failure& event : failures.events)
    if (event.kind == FailureKind::freeze && event.first_rank(workers_per_node) <= rank &&
        rank <= event.last_rank(workers_per_node))
      freezes.push_back(event);
  return freezes;
}

}  // namespace trigram

#include "experiments/traces/chakra_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <queue>

#include "experiments/traces/trace_document.h"

namespace trigram {
namespace {

// The enumerations of et_def.proto; protobuf writes their names to JSON, and omits zero.
constexpr std::array kTypes = {"INVALID_NODE",   "METADATA_NODE", "MEM_LOAD_NODE",
                               "MEM_STORE_NODE", "COMP_NODE",     "COMM_SEND_NODE",
                               "COMM_RECV_NODE", "COMM_COLL_NODE"};
constexpr std::array kCollectives = {
    "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
    "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};

/// The value under the name that protobuf writes to JSON, or under that of the definition.
const Json& field(const Json& node, const char* in_json, const char* in_definition) {
  static const Json none;
  if (const auto found = node.find(in_json); found != node.end()) return *found;
  const auto found = node.find(in_definition);
  return found != node.end() ? *found : none;
}

double not_negative(const Json& node, const char* in_json, const char* in_definition,
                    const std::string& pointer) {
  const char* key = node.contains(in_json) ? in_json : in_definition;
  const double value = number_at(node, key, pointer).value_or(0);
  if (value < 0 || value > kGreatest)
    throw ConfigError(fmt::format("{}/{}", pointer, key),
                      "expected a number that is not negative and at most 9e18");
  return value;
}

/// A name of an enumeration, for a value that is the name or its number.
template <std::size_t n>
std::string enumerated(const Json& value, const std::array<const char*, n>& names) {
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    if (text.empty() || !std::isdigit(static_cast<unsigned char>(text.front()))) return text;
    return enumerated(Json(std::atoi(text.c_str())), names);
  }
  const bool known = value.is_number_integer() && value >= 0 && value < static_cast<int>(n);
  return known ? names[value.get<std::size_t>()] : "";
}

/// The value of an attribute, which protobuf keeps under a key that ends in its type: int64Val.
Json attribute(const Json& node, const std::string& name, const std::string& pointer) {
  const Json& list = field(node, "attr", "attribute");
  if (list.is_null()) return {};
  if (!list.is_array()) throw ConfigError(pointer + "/attr", "expected a list of attributes");
  for (const Json& entry : list) {
    if (!entry.is_object() || entry.value("name", Json()) != name) continue;
    for (const auto& [key, value] : entry.items())
      if (key.ends_with("Val") || key.ends_with("_val")) return value;
  }
  return {};
}

/// A node's id as text; protobuf writes 64 bits as a string, and omits zero.
std::string id_of(const Json& id) {
  return id.is_null() ? "0" : id.is_string() ? id.get<std::string>() : id.dump();
}

ChakraNode node_of(const Json& json, const std::string& pointer) {
  const Json name = json.value("name", Json(""));
  ChakraNode node{.name = name.is_string() ? name.get<std::string>() : name.dump(),
                  .pointer = pointer};
  const std::string type = enumerated(field(json, "type", "type"), kTypes);
  if (type == "COMP_NODE") node.kind = ChakraNode::Kind::compute;
  if (type == "COMM_COLL_NODE") node.kind = ChakraNode::Kind::collective;
  const Json on_cpu = attribute(json, "is_cpu_op", pointer);
  node.on_cpu = on_cpu == true || on_cpu == 1 || on_cpu == "1";
  node.begin_us = not_negative(json, "startTimeMicros", "start_time_micros", pointer);
  node.end_us = node.begin_us + not_negative(json, "durationMicros", "duration_micros", pointer);
  if (node.kind != ChakraNode::Kind::collective) return node;
  node.collective = enumerated(attribute(json, "comm_type", pointer), kCollectives);
  const Json size = {{"comm_size", attribute(json, "comm_size", pointer)}};
  if (!size["comm_size"].is_null())
    node.bytes =
        static_cast<std::size_t>(not_negative(size, "comm_size", "comm_size", pointer + "/attr"));
  return node;
}

std::vector<std::size_t> indices_of(const Json& ids, const std::map<std::string, std::size_t>& all,
                                    const std::string& pointer) {
  std::vector<std::size_t> indices;
  if (ids.is_null()) return indices;
  if (!ids.is_array()) throw ConfigError(pointer, "expected a list of ids");
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto found = all.find(id_of(ids[i]));
    if (found == all.end())
      throw ConfigError(fmt::format("{}/{}", pointer, i),
                        fmt::format("expected the id of a node of the trace, not {}; the trace "
                                    "may be truncated",
                                    ids[i].dump().substr(0, 40)));
    indices.push_back(found->second);
  }
  return indices;
}

/// The indices of the nodes, each after those that it needs; otherwise in the order of the file.
std::vector<std::size_t> dependency_order(const std::vector<ChakraNode>& nodes) {
  std::vector<std::size_t> missing(nodes.size()), order;
  std::vector<std::vector<std::size_t>> dependents(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    missing[i] = nodes[i].needs.size();
    for (const std::size_t needed : nodes[i].needs) dependents[needed].push_back(i);
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> possible;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (missing[i] == 0) possible.push(i);
  while (!possible.empty()) {
    const std::size_t next = possible.top();
    possible.pop();
    order.push_back(next);
    for (const std::size_t dependent : dependents[next])
      if (--missing[dependent] == 0) possible.push(dependent);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (missing[i] > 0)
      throw ConfigError(nodes[i].pointer, "expected dependencies without a cycle");
  return order;
}

void set_times(std::vector<ChakraNode>& nodes, const std::vector<std::size_t>& order) {
  const bool timed = std::ranges::any_of(nodes, [](const ChakraNode& node) {
    return node.kind == ChakraNode::Kind::compute && node.begin_us > 0;
  });
  double now = 0;
  for (const std::size_t i : order) {
    ChakraNode& node = nodes[i];
    for (const std::size_t needed : node.needs)
      node.ready_us = std::max(node.ready_us, nodes[needed].ready_us);
    if (node.kind != ChakraNode::Kind::compute) continue;
    if (!timed) {
      node.end_us = now + node.end_us - node.begin_us;
      node.begin_us = now;
      now = node.end_us;
    }
    node.ready_us = std::max(node.ready_us, node.end_us);
  }
}

/// The JSON objects of the nodes, with their pointers.
std::vector<std::pair<const Json*, std::string>> objects_in(const std::vector<Json>& values) {
  std::vector<std::pair<const Json*, std::string>> objects;
  const auto add_all = [&](const Json& list, const std::string& pointer) {
    if (!list.is_array()) throw ConfigError(pointer, "expected a list of nodes");
    for (std::size_t i = 0; i < list.size(); ++i)
      objects.emplace_back(&list[i], fmt::format("{}/{}", pointer, i));
  };
  if (values.size() == 1 && values[0].is_array()) add_all(values[0], "");
  else if (values.size() == 1 && values[0].contains("nodes")) add_all(values[0]["nodes"], "/nodes");
  else
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool is_header = i == 0 && values[i].is_object() && values[i].contains("version");
      if (!is_header) objects.emplace_back(&values[i], fmt::format("/{}", i));
    }
  for (const auto& [object, pointer] : objects)
    if (!object->is_object()) throw ConfigError(pointer, "expected a node, which is an object");
  return objects;
}

}  // namespace

bool ChakraNode::is_backward() const {
  std::string lower = name;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower.find("backward") != lower.npos || lower.find("bwd") != lower.npos;
}

std::vector<ChakraNode> read_chakra_nodes(const std::vector<Json>& values) {
  const auto objects = objects_in(values);
  std::map<std::string, std::size_t> indices;
  std::vector<ChakraNode> nodes;
  for (const auto& [object, pointer] : objects) {
    const std::string id = id_of(object->value("id", Json()));
    if (!indices.emplace(id, nodes.size()).second)
      throw ConfigError(pointer + "/id", fmt::format("expected distinct ids; {} occurs twice", id));
    nodes.push_back(node_of(*object, pointer));
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& [object, pointer] = objects[i];
    nodes[i].data_of =
        indices_of(field(*object, "dataDeps", "data_deps"), indices, pointer + "/dataDeps");
    nodes[i].needs =
        indices_of(field(*object, "ctrlDeps", "ctrl_deps"), indices, pointer + "/ctrlDeps");
    nodes[i].needs.insert(nodes[i].needs.end(), nodes[i].data_of.begin(), nodes[i].data_of.end());
  }
  set_times(nodes, dependency_order(nodes));
  return nodes;
}

}  // namespace trigram

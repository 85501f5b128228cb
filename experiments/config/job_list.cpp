#include "experiments/config/job_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace trigram {
namespace {

bool is_job_field(const std::string& field) {
  return std::ranges::find(job_fields(), field) != job_fields().end();
}

void parse_job_nodes(const Json& j, const std::string& pointer, Job& job) {
  if (j.is_number_integer()) {
    job.any_nodes = integer(1).parse(j, pointer);
    return;
  }
  if (!j.is_array() || j.empty())
    wrong_type(pointer, "a list of nodes, or the number of nodes that the job gets", j);
  for (const std::int64_t node : list_of(integer(0, INT32_MAX)).parse(j, pointer))
    job.nodes.push_back(static_cast<int>(node));
}

/// Later starts would leave the clock too few digits for short messages.
double parse_start(const Json& j, const std::string& pointer) {
  constexpr double kLatest_s = 1e6;
  const double start_s = quantity(Dimension::duration).parse(j, pointer);
  if (start_s > kLatest_s) wrong_type(pointer, "a time of at most 1000000s", j);
  return start_s;
}

Job parse_job(const Json& j, const std::string& pointer) {
  if (!j.is_object()) wrong_type(pointer, "a job: an object with name, nodes and fields", j);
  Job job;
  Mistakes mistakes;
  for (const auto& [key, value] : j.items()) {
    const std::string at = child(pointer, key);
    mistakes.passes([&] {
      if (key == "name") job.name = text().parse(value, at);
      else if (key == "nodes") parse_job_nodes(value, at, job);
      else if (key == "start") job.start_s = parse_start(value, at);
      else if (is_job_field(key)) job.fields[key] = value;
      else {
        std::vector<std::string> names = job_fields();
        names.insert(names.end(), {"name", "nodes", "start"});
        unknown_name(at, "key", key, names);
      }
    });
  }
  for (const char* needed : {"name", "nodes"})
    if (!j.contains(needed))
      mistakes.add(ConfigError(child(pointer, needed),
                               std::string("missing; ") +
                                   (needed[1] == 'a' ? "a name that no other job has"
                                                     : "the nodes of the cluster on which the job "
                                                       "runs: a list, or how many"),
                               Mistake::Kind::missing));
  mistakes.raise();
  return job;
}

std::vector<Job> parse_jobs(const Json& j, const std::string& pointer) {
  if (!j.is_array() || j.empty()) wrong_type(pointer, "a list of jobs, not empty", j);
  std::vector<Job> jobs;
  std::set<std::string> names;
  Mistakes mistakes;
  for (std::size_t i = 0; i < j.size(); ++i) {
    const std::string at = child(pointer, std::to_string(i));
    mistakes.passes([&] {
      jobs.push_back(parse_job(j[i], at));
      if (jobs.back().name.empty() || !names.insert(jobs.back().name).second)
        wrong_type(child(at, "name"), "a name that no other job has", j[i].at("name"));
    });
  }
  mistakes.raise();
  return jobs;
}

Json dump_job(const Job& job) {
  Json j = job.fields;
  j["name"] = job.name;
  j["nodes"] = job.nodes.empty() ? Json(job.any_nodes) : Json(job.nodes);
  j["start"] = quantity(Dimension::duration).dump(job.start_s);
  return j;
}

Json jobs_schema() {
  const Json nodes = {
      {"anyOf",
       {{{"type", "integer"}, {"minimum", 1}},
        {{"type", "array"}, {"minItems", 1}, {"items", {{"type", "integer"}, {"minimum", 0}}}}}}};
  return {{"type", "array"},
          {"minItems", 1},
          {"items",
           {{"type", "object"},
            {"additionalProperties", false},
            {"required", {"name", "nodes"}},
            {"properties",
             {{"name", {{"type", "string"}, {"minLength", 1}}},
              {"nodes", nodes},
              {"start", quantity(Dimension::duration).schema()}}}}}};
}

}  // namespace

const std::vector<std::string>& job_fields() {
  static const std::vector<std::string> names = {
      "algorithm", "workload", "optimizer",       "steps",       "micro_batches", "clip_norm",
      "autotune",  "seed",     "target_accuracy", "target_loss", "eval_every",    "gradient_noise"};
  return names;
}

OptionType<std::vector<Job>> jobs_option() {
  return {parse_jobs,
          [](const std::vector<Job>& jobs) {
            Json j;
            for (const Job& job : jobs) j.push_back(dump_job(job));
            return j;  // null, which is not dumped, if there are none
          },
          jobs_schema};
}

void assign_nodes(std::vector<Job>& jobs, std::int64_t nodes, const std::string& pointer) {
  std::vector<int> owner(static_cast<std::size_t>(nodes), -1);
  const auto at = [&](std::size_t job) {
    return child(child(pointer, std::to_string(job)), "nodes");
  };
  for (std::size_t i = 0; i < jobs.size(); ++i)
    for (const int node : jobs[i].nodes) {
      if (node >= nodes)
        throw ConfigError(at(i), fmt::format("expected nodes below {}, the number of nodes of the "
                                             "cluster, not {}",
                                             nodes, node));
      int& taken = owner[static_cast<std::size_t>(node)];
      if (taken == static_cast<int>(i))
        throw ConfigError(at(i), fmt::format("node {} is listed twice", node));
      if (taken >= 0)
        throw ConfigError(at(i), fmt::format("node {} is already that of job {}", node,
                                             jobs[static_cast<std::size_t>(taken)].name));
      taken = static_cast<int>(i);
    }
  int next = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (; jobs[i].any_nodes > 0; --jobs[i].any_nodes) {
      while (next < nodes && owner[static_cast<std::size_t>(next)] >= 0) ++next;
      if (next == nodes)
        throw ConfigError(at(i),
                          fmt::format("the {} nodes of the cluster are too few for the jobs; "
                                      "expected fewer here, or more /cluster/nodes",
                                      nodes));
      jobs[i].nodes.push_back(next++);
    }
  }
}

}  // namespace trigram

#include "experiments/config/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "experiments/config/config_file.h"
#include "netmodels/part_of_cluster.h"

namespace trigram {
namespace {

constexpr const char* kJobs = "/jobs";

/// Refuses options that the simulation of several jobs does not support.
void check_sharing(const Experiment& e, const std::string& pointer) {
  const auto refuse_if = [&](bool given, const char* at, const char* expected) {
    if (given)
      throw ConfigError(pointer + at, std::string("several jobs share the network; ") + expected);
  };
  refuse_if(!e.world().simulated, "/runtime",
            "expected the world \"sim\", the only one that has them");
  refuse_if(e.runtime.at("fidelity") != "message", "/runtime/fidelity", "expected \"message\"");
  const Shaping& shaping = e.cluster.inter.shaping;
  refuse_if(shaping.enabled() && std::min(shaping.initial_bytes, shaping.depth_bytes) > 0,
            "/cluster/inter/shaping/initial",
            "expected \"0B\", with which steps do not become slower");
  refuse_if(!e.cluster.failures.none(), "/cluster/failures", "expected no failures beside them");
  refuse_if(e.cluster.run_times.order == LoaderOptions::Order::balanced, "/cluster/run_times/order",
            "expected an order that does not depend on the number of workers");
  refuse_if(e.until_steady, "/until_steady", "expected false, because their steps need not repeat");
  refuse_if(e.checkpoint.has_value(), "/checkpoint", "expected no checkpoints beside them");
}

/// The only job to measure; null if all are measured.
const Job* only_job(const Json& config, const std::vector<Job>& jobs) {
  if (!config.contains("job")) return nullptr;
  std::vector<std::string> names;
  for (const Job& job : jobs) names.push_back(job.name);
  return &jobs[index_of_name(names, config.at("job"), "/job")];
}

/// Reports fields of the file that every job replaces.
void check_inherited(const Json& config) {
  Mistakes mistakes;
  for (const std::string& field : job_fields())
    if (config.contains(field) && every_job_gives(config, field))
      mistakes.add(ConfigError(child("", field), "has no effect; every job gives its own",
                               Mistake::Kind::without_effect));
  mistakes.raise();
}

/// An error within a job whose pointers begin at the job.
ConfigError below_job(const ConfigError& error, std::size_t job,
                      const std::function<bool(const Mistake&)>& is_below) {
  std::vector<Mistake> mistakes = error.mistakes();
  for (Mistake& mistake : mistakes)
    if (is_below(mistake)) mistake.pointer.insert(0, child(kJobs, std::to_string(job)));
  return ConfigError(std::move(mistakes));
}

/// The point of a job, given a configuration whose jobs have all fields.
SweepPoint point_of_job(const SweepPoint& all, std::size_t index) {
  SweepPoint point = all;
  point.job = static_cast<int>(index);
  const Json& job = all.config.at("jobs").at(index);
  point.config["job"] = job.at("name");
  for (const std::string& field : job_fields()) {
    point.config.erase(field);
    if (!job.at(field).is_null()) point.config[field] = job.at(field);
  }
  return point;
}

/// Gives all fields to every job of a configuration.
void complete(Json& config, const std::filesystem::path& base) {
  for (std::size_t i = 0; i < config["jobs"].size(); ++i) {
    Json& job = config["jobs"][i];
    try {
      inline_files(job, base);
    } catch (const ConfigError& error) {
      throw below_job(error, i, [](const Mistake& mistake) { return mistake.file.empty(); });
    }
    for (const std::string& field : job_fields())
      if (!job.contains(field)) job[field] = config.value(field, Json());
  }
}

}  // namespace

void place_jobs(Experiment& e, const std::string& pointer) {
  if (e.jobs.empty()) {
    if (!e.job.empty())
      throw ConfigError(pointer + "/job", "has no effect here; expected \"jobs\" beside it");
    return;
  }
  assign_nodes(e.jobs, e.cluster.nodes, pointer + kJobs);
  check_sharing(e, pointer);
  if (e.job.empty()) return;
  const auto measured = std::ranges::find(e.jobs, e.job, &Job::name);
  if (measured == e.jobs.end())
    throw ConfigError(pointer + "/job", "expected the name of one of the jobs");
  e.cluster = part_of(std::make_shared<const Cluster>(e.cluster), measured->nodes);
}

double start_s(const Experiment& e) {
  const auto measured = std::ranges::find(e.jobs, e.job, &Job::name);
  return measured == e.jobs.end() ? 0 : measured->start_s;
}

std::vector<SweepPoint> expand_jobs(const std::vector<SweepPoint>& points,
                                    const std::filesystem::path& base) {
  std::vector<SweepPoint> expanded;
  for (const SweepPoint& point : points) {
    if (!point.config.contains("jobs")) {
      expanded.push_back(point);
      continue;
    }
    const std::vector<Job> jobs = jobs_option().parse(point.config.at("jobs"), kJobs);
    const Job* const only = only_job(point.config, jobs);
    check_inherited(point.config);
    SweepPoint all = point;
    complete(all.config, base);
    for (const Job& job : jobs) {
      auto& own = all.own_fields.emplace_back();
      for (const auto& [field, value] : job.fields.items()) own.push_back(field);
    }
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (only && only != &jobs[i]) continue;
      SweepPoint& own = expanded.emplace_back(point_of_job(all, i));
      if (!only) own.coordinates["/job"] = jobs[i].name;
    }
  }
  return expanded;
}

std::vector<SweepPoint> other_jobs(const SweepPoint& point) {
  std::vector<SweepPoint> others;
  for (std::size_t i = 0; point.job >= 0 && i < point.config.at("jobs").size(); ++i)
    if (static_cast<int>(i) != point.job) others.push_back(point_of_job(point, i));
  return others;
}

bool every_job_gives(const Json& config, const std::string& field) {
  const Json jobs = config.value("jobs", Json());
  return jobs.is_array() && !jobs.empty() &&
         std::ranges::all_of(jobs, [&field](const Json& job) { return job.contains(field); });
}

bool given_by_job(const SweepPoint& point, const std::string& pointer) {
  return point.job >= 0 &&
         std::ranges::any_of(point.own_fields[static_cast<std::size_t>(point.job)],
                             [&pointer](const std::string& field) {
                               return (pointer + "/").starts_with("/" + field + "/");
                             });
}

ConfigError in_job(const ConfigError& error, const SweepPoint& point) {
  if (point.job < 0) return error;
  return below_job(error, static_cast<std::size_t>(point.job), [&point](const Mistake& mistake) {
    const bool lacks_field = mistake.kind == Mistake::Kind::missing &&
                             std::ranges::any_of(job_fields(), [&](const std::string& field) {
                               return mistake.pointer == child("", field);
                             });
    return lacks_field || given_by_job(point, mistake.pointer);
  });
}

void complete_jobs(Json& resolved, const std::vector<Json>& resolved_jobs) {
  for (std::size_t i = 0; i < resolved_jobs.size(); ++i) {
    Json& job = resolved["jobs"][i];
    for (const std::string& field : job_fields())
      if (job.at("name") == resolved.at("job")) job.erase(field);
      else job[field] = resolved_jobs[i].value(field, Json());
  }
}

}  // namespace trigram

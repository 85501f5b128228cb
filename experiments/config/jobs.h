#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/workloads/registry.h"
#include "experiments/config/experiment.h"
#include "experiments/config/sweep.h"

// Several jobs that share one network ("jobs"). Each of them is a run of its own, in which all jobs
// are simulated and one is measured ("job").

namespace trigram {

/// A job that shares the network with the one that a run measures.
struct JobBeside {
  Experiment experiment;
  std::shared_ptr<const WorkloadFactory> workload;
};

/// True if a configuration has jobs, all of which have the field themselves.
bool every_job_gives(const Json& config, const std::string& field);

/// Places the jobs of an experiment on the nodes of its cluster, and makes its cluster the part on
/// which the measured job runs. Throws ConfigError if the jobs do not fit, or if the experiment has
/// options that several jobs cannot have.
void place_jobs(Experiment& experiment, const std::string& pointer);

/// The time of the simulation at which the workers begin; 0 if the experiment has no jobs.
double start_s(const Experiment& experiment);

/// Replaces each point that has "jobs" by one point for each job or, if it has "job", for that job.
/// A point of a job has the job's fields at the top level, and all fields in every job: a job that
/// does not give a field gets the one at the top level of the file, or null if there is none. Paths
/// of algorithms are relative to `base`. Throws ConfigError if "jobs" is malformed.
std::vector<SweepPoint> expand_jobs(const std::vector<SweepPoint>& points,
                                    const std::filesystem::path& base);

/// The points of the other jobs, given a point of a job.
std::vector<SweepPoint> other_jobs(const SweepPoint& point);

/// True if the job of a point gives the field to which a pointer leads, or the field around it.
bool given_by_job(const SweepPoint& point, const std::string& pointer);

/// An error of a job's point whose pointers lead to where the file has the job's fields.
ConfigError in_job(const ConfigError& error, const SweepPoint& point);

/// Sets the fields of every job in a resolved experiment to those of `resolved_jobs`, which are in
/// the same order. Those of the measured job are at the top level only.
void complete_jobs(Json& resolved, const std::vector<Json>& resolved_jobs);

}  // namespace trigram

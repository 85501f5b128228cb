#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// One of several jobs that share a cluster: where it runs, from when on, and its fields.
struct Job {
  std::string name;
  std::vector<int> nodes;      // of the cluster, in the order of the job's ranks
  std::int64_t any_nodes = 0;  // as many nodes that are still free, in place of `nodes`
  double start_s = 0;
  Json fields = Json::object();  // of its experiment, by name (see `job_fields`)
};

/// The fields of an experiment that each of its jobs may give: all but those that the jobs share.
const std::vector<std::string>& job_fields();

/// A list of jobs with different names.
OptionType<std::vector<Job>> jobs_option();

/// Chooses nodes for jobs that give a number of them: the first that are free. Throws ConfigError
/// below `pointer`, which is that of the list of jobs, if a node has two jobs or there are too few.
void assign_nodes(std::vector<Job>& jobs, std::int64_t nodes, const std::string& pointer);

}  // namespace trigram

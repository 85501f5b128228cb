#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// One experiment of a sweep: its configuration without "sweep" and "zip", and its coordinates,
/// {"/json/pointer": value, ...}.
struct SweepPoint {
  Json config;
  Json coordinates = Json::object();
  int job = -1;  // the index of the job that it measures (experiments/config/jobs.h); -1: none
  std::vector<std::vector<std::string>> own_fields = {};  // by job: the fields that it gives itself
};

/// Expands {"sweep": {pointer: [values], ...}, "zip": {...}} into the product of the lists in
/// "sweep" and the rows of "zip". The lists in "zip" have equal length and advance together; "zip"
/// may also be a list of rows, [{pointer: value, ...}, ...], which need not set the same pointers.
/// If "seed" is a list, it is swept as if it were in "sweep". Pointers are applied in alphabetical
/// order, so that parents come before their children; the first pointer varies slowest. Paths of
/// clusters and algorithms are relative to `base`. Values are not checked.
std::vector<SweepPoint> expand_sweep(Json config, const std::filesystem::path& base);

// The schemas (draft-07) of "sweep" and "zip".
Json sweep_schema();
Json zip_schema();

}  // namespace trigram

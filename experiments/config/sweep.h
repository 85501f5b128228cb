#pragma once

#include <filesystem>
#include <vector>

#include "core/config/kinds.h"

namespace trigram {

/// One experiment of a sweep: its configuration without "sweep" and "zip", and where it lies, as
/// {"/json/pointer": value, ...}.
struct SweepPoint {
  Json config;
  Json coordinates = Json::object();
};

/// Expands {"sweep": {pointer: [values], ...}, "zip": {...}}: the product of the lists of "sweep"
/// and of the rows of "zip", whose lists have one length and advance together. A list as "seed"
/// is a sweep of its own. Pointers are applied in alphabetical order, so parents come before their
/// children, and the first varies slowest. Paths of clusters are relative to `base`;
/// values are not checked.
std::vector<SweepPoint> expand_sweep(Json config, const std::filesystem::path& base);

/// The schema (draft-07) of "sweep" and of "zip".
Json sweep_schema();

}  // namespace trigram

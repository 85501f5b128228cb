#pragma once

#include <filesystem>
#include <vector>

#include "core/config/option_type.h"

namespace trigram {

/// One experiment of a sweep: its configuration without "sweep" and "zip", and where it lies, as
/// {"/json/pointer": value, ...}.
struct SweepPoint {
  Json config;
  Json coordinates = Json::object();
};

/// Expands {"sweep": {pointer: [values], ...}, "zip": {...}}: the product of the lists of "sweep"
/// and of the rows of "zip", whose lists have one length and advance together; "zip" may also be
/// the list of its rows, [{pointer: value, ...}, ...], which need not set the same pointers. A list
/// as "seed" is a sweep of its own. Pointers are applied in alphabetical order, so parents come
/// before their children, and the first varies slowest. Paths of clusters are relative to `base`;
/// values are not checked.
std::vector<SweepPoint> expand_sweep(Json config, const std::filesystem::path& base);

// Their schemas (draft-07).
Json sweep_schema();
Json zip_schema();

}  // namespace trigram

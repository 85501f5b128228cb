#include "experiments/advise/bandwidth_search.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <map>

#include "experiments/exit_codes.h"
#include "experiments/results/manifest.h"

namespace trigram {

double BandwidthGrid::at(std::size_t i) const {
  const double share = static_cast<double>(i) / static_cast<double>(points - 1);
  return least_Bps * std::pow(most_Bps / least_Bps, share);
}

/// The results of one point of the sweep so far.
struct BandwidthSearch::Search {
  struct Result {
    double utilisation;
    std::string why_not;  // why_not_compared
  };
  std::map<std::size_t, Result> known;  // by the index of the bandwidth
  Json manifest;                        // of the last run

  struct Bounds {
    std::size_t least, most;  // the answer is at least `least` and at most `most`
  };
  /// `most` is the number of points if no known bandwidth is enough.
  Bounds bounds(double utilisation, std::size_t points) const {
    Bounds found{0, points};
    for (const auto& [i, result] : known)
      if (result.utilisation >= utilisation) found.most = std::min(found.most, i);
      else found.least = std::max(found.least, i + 1);
    return found;
  }
};

BandwidthSearch::BandwidthSearch(Options options)
    : options_(std::move(options)), described_(make_plan(options_.config, options_.settings)) {
  for (const PlannedRun& run : described_.runs)
    if (!run.experiment.world().simulated)
      throw ConfigError("/runtime", "bandwidths are searched by simulation; expected \"sim\"");
  described_.name += "-bandwidth";
}

/// The runs at a bandwidth of the grid, with the ratios of a network whose links differ. The
/// network of the first run is that of all, unless they sweep over it.
Plan BandwidthSearch::plan_at(std::size_t point) const {
  const NetworkScale scale(described_.runs.front().resolved.at("cluster"), Dimension::bandwidth);
  std::vector<std::string> settings = options_.settings;
  const Json scaled = scale.settings(options_.grid.at(point) / scale.value(1));
  for (const auto& [pointer, value] : scaled.items())
    settings.push_back(fmt::format("{}={}", pointer, value.dump()));
  Plan plan = make_plan(options_.config, settings);
  plan.name = described_.name;
  return plan;
}

void BandwidthSearch::measure(std::size_t point, const std::vector<std::size_t>& runs,
                              std::vector<Search>& searches) const {
  Plan plan = plan_at(point), wanted{plan.name, {}};
  for (const std::size_t run : runs) wanted.runs.push_back(plan.runs.at(run));
  if (!options_.quiet)
    std::fputs(fmt::format("bandwidth {}: {} run{}\n",
                           readable(options_.grid.at(point), Dimension::bandwidth), runs.size(),
                           runs.size() == 1 ? "" : "s")
                   .c_str(),
               stderr);
  SweepRunner runner(wanted, options_.runner, true);
  if (const int code = runner.run(); code != kOk) throw Stopped{code};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Search& search = searches[runs[i]];
    search.manifest = runner.stored(wanted.runs[i]).manifest;
    search.known[point] = {search.manifest.at("summary").at("compute_utilisation").get<double>(),
                           why_not_compared(search.manifest)};
  }
}

std::vector<BandwidthSearch::Need> BandwidthSearch::find() {
  const std::size_t points = options_.grid.points;
  std::vector<Search> searches(described_.runs.size());
  for (;;) {
    std::map<std::size_t, std::vector<std::size_t>> probes;  // runs by point
    for (std::size_t run = 0; run < searches.size(); ++run)
      for (const double utilisation : options_.utilisations) {
        const auto [least, most] = searches[run].bounds(utilisation, points);
        if (least >= most) continue;
        std::vector<std::size_t>& at = probes[least + (most - least) / 2];
        if (at.empty() || at.back() != run) at.push_back(run);
      }
    if (probes.empty()) break;
    for (const auto& [point, runs] : probes) measure(point, runs, searches);
  }
  std::vector<Need> needs;
  for (std::size_t run = 0; run < searches.size(); ++run) {
    const Search& search = searches[run];
    Need& need =
        needs.emplace_back(Need{described_.runs[run].coordinates, {}, search.manifest, ""});
    for (const double utilisation : options_.utilisations) {
      // The answer follows from the run there, and from the one at the next lower bandwidth.
      const std::size_t found = search.bounds(utilisation, points).most;
      need.at.push_back(found < points ? std::optional(found) : std::nullopt);
      for (const std::size_t point : {found, found - 1})
        if (const auto result = search.known.find(point);
            result != search.known.end() && need.why_not.empty())
          need.why_not = result->second.why_not;
    }
  }
  return needs;
}

}  // namespace trigram

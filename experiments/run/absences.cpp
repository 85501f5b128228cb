#include "experiments/run/absences.h"

#include <fmt/format.h>

#include <algorithm>

namespace trigram {

Json absences_json(const PlannedMembership& membership, const Experiment& e, const Json& summary) {
  const double time_s = summary.at("time_s"), ranks = static_cast<double>(e.cluster.ranks());
  const long steps = summary.at("steps");
  static constexpr const char* kKinds[] = {"crash", "leave", "join", "suspicion"};
  Json absences = Json::array();
  double recovery_s = 0, absent_s = 0, suspected_s = 0;
  long suspicions = 0;
  double left_out = static_cast<double>(membership.late_steps());
  for (const PlannedMembership::Record& record : membership.records()) {
    const bool back = record.peer >= 0;
    const double until_s = std::clamp(back ? record.healed_s : time_s, record.stopped_s,
                                      std::max(time_s, record.stopped_s));
    absent_s += until_s - record.stopped_s;
    if (record.kind == Absence::suspicion) {
      ++suspicions;
      suspected_s += until_s - record.stopped_s;
    }
    if (back && record.kind == Absence::crash) recovery_s += record.healed_s - record.stopped_s;
    left_out += static_cast<double>((back ? record.healed_step : steps) - record.stopped_step);
    absences.push_back({{"rank", record.rank},
                        {"kind", kKinds[record.kind]},
                        {"stopped_s", record.stopped_s},
                        {"from_step", record.stopped_step},
                        {"back_s", back ? Json(record.healed_s) : Json()},
                        {"to_step", back ? Json(record.healed_step) : Json()},
                        {"peer", back ? Json(record.peer) : Json()}});
  }
  // A worker that is late for a round loses its steps since the round before.
  const double made = ranks * static_cast<double>(steps) - left_out;
  const double lost =
      std::min(made, static_cast<double>(membership.late_rounds() * e.schedule().interval_steps));
  const double presence = 1 - absent_s / (ranks * time_s);
  Json json = {{"recovery", "in_place"},
               {"absences", absences},
               {"epochs", membership.epochs()},
               {"fewest_workers", membership.fewest()},
               {"late_rounds", membership.late_rounds()},
               {"participation", made / (ranks * static_cast<double>(steps))},
               {"presence", presence},
               {"lost_steps", lost},
               {"lost_s", time_s * presence * lost / made},
               {"recovery_s", recovery_s},
               {"goodput", presence * (1 - lost / made)}};
  if (const HeartbeatDetector* detector = membership.detector())
    json.update({{"false_suspicions", suspicions},
                 {"suspected_s", suspected_s},
                 {"longest_heartbeat_s", detector->longest_delay_s()}});
  return json;
}

std::string late_rounds_warning(const Json& failures) {
  const double lost = failures.at("lost_steps");
  if (lost == 0) return "";
  return fmt::format(
      "{} times a round of averages closed without a worker that was there, whose steps since the "
      "round before are lost: {:.0f} steps of all workers, which samples/s count; a longer "
      "/algorithm/grace waits for them",
      failures.at("late_rounds").get<long>(), lost);
}

}  // namespace trigram

#include <utility>

#include "experiments/run/failing_run.h"

namespace trigram {

Json CrashRecord::to_json(double time_s) const {
  const double whole_s = origin_s + time_s;
  Json json = {{"recovery", "restart"},
               {"crashes", crashes},
               {"lost_s", lost_s},
               {"recovery_s", recovery_s},
               {"goodput", (whole_s - lost_s - recovery_s) / whole_s}};
  if (longest_heartbeat_s)
    json.update({{"suspicions", suspicions},
                 {"false_suspicions", suspicions.size()},
                 {"longest_heartbeat_s", *longest_heartbeat_s}});
  if (generations.size() > 1) json.update({{"generations", generations}, {"time_s", whole_s}});
  return json;
}

void CrashRecord::add(Interruption interruption) {
  lost_s += interruption.lost_s;
  recovery_s += interruption.recovery_s;
  interruptions.push_back(std::move(interruption));
}

void CrashRecord::add_recovery(double seconds) {
  if (seconds == 0) return;
  recovery_s += seconds;
  interruptions.back().recovery_s += seconds;
  Json& last = crashes.back()["recovery_s"];
  last = last.get<double>() + seconds;
}

}  // namespace trigram

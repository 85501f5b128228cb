#include "experiments/run/job_timeline.h"

namespace trigram {
namespace {

constexpr int kJob = 1 << 20;  // its process number; ranks have smaller ones
constexpr double kMicrosecond_s = 1e-6;

Json job_slice(const std::string& name, double begin_s, double end_s) {
  return {{"ph", "X"},
          {"name", name},
          {"cat", "job"},
          {"pid", kJob},
          {"tid", 1},
          {"ts", begin_s / kMicrosecond_s},
          {"dur", (end_s - begin_s) / kMicrosecond_s}};
}

}  // namespace

void add_job(Json& timeline, const std::vector<Interruption>& interruptions, double end_s) {
  Json& events = timeline.at("traceEvents");
  events.push_back({{"ph", "M"},
                    {"name", "process_name"},
                    {"pid", kJob},
                    {"tid", 0},
                    {"args", {{"name", "job"}}}});
  double from_s = 0;
  for (const Interruption& i : interruptions) {
    events.push_back(job_slice("training", from_s, i.at_s - i.lost_s));
    if (i.lost_s > 0) events.push_back(job_slice("lost work", i.at_s - i.lost_s, i.at_s));
    events.push_back({{"ph", "i"},
                      {"name", i.name},
                      {"cat", "job"},
                      {"s", "g"},
                      {"pid", kJob},
                      {"tid", 1},
                      {"ts", i.at_s / kMicrosecond_s}});
    from_s = i.at_s + i.recovery_s;
    if (i.recovery_s > 0) events.push_back(job_slice("recovery", i.at_s, from_s));
  }
  events.push_back(job_slice("training", from_s, end_s));
}

}  // namespace trigram

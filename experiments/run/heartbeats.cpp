#include "experiments/run/heartbeats.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace trigram {
namespace {

void wait_until(Stream& stream, double date_s) {
  if (const double rest_s = date_s - stream.now(); rest_s > 0) stream.sleep_for(rest_s);
}

/// The end of the freezes that a worker is in at `date_s`, or that date.
double end_of_freezes(const std::vector<Failure>& freezes, double date_s) {
  for (const Failure& freeze : freezes)
    if (freeze.at_s <= date_s) date_s = std::max(date_s, freeze.at_s + freeze.duration_s);
  return date_s;
}

void send_heartbeats(const Context& c, HeartbeatRun& run, const std::vector<Failure>& freezes,
                     double begin_s, const bool& ended) {
  HeartbeatDetector& detector = run.detector;
  const int rank = c.world_rank;
  const auto report = [&] {
    if (std::isfinite(detector.suspected_s(rank))) run.suspected(detector.suspected_s(rank));
  };
  for (double next_s = begin_s;; next_s += detector.heartbeats().every_s) {
    next_s = end_of_freezes(freezes, next_s);
    if (detector.expects(rank) && detector.deadline_s(rank) < next_s) {
      wait_until(*c.stream, detector.deadline_s(rank));
      if (ended) return;
      if (detector.expects(rank) && detector.deadline_s(rank) <= c.stream->now()) {
        detector.missed(rank);
        report();
      }
    }
    wait_until(*c.stream, next_s);
    if (ended) return;
    if (!detector.expects(rank)) continue;
    detector.sent(rank, c.stream->now(), run.arrival_s(rank));
    report();
  }
}

}  // namespace

HeartbeatRun heartbeat_run(const Experiment& e, Runtime& runtime, HeartbeatDetector& detector) {
  const Heartbeats& heartbeats = detector.heartbeats();
  const auto arrival_s = [&](int rank) {
    return e.world().heartbeat_arrival_s(runtime, rank, 0, heartbeats.bytes,
                                         heartbeats.lane == Heartbeats::Lane::shared);
  };
  const auto suspected = [&](double date_s) {
    if (!e.carries_on()) e.world().end_at(runtime, date_s);
  };
  return {detector, arrival_s, suspected};
}

HeartbeatSender::HeartbeatSender(const Context& raw, const Experiment& e, HeartbeatRun& run,
                                 double begin_s, bool is_there)
    : stream_(raw.stream->fork("heartbeats")) {
  begin_s = std::max(begin_s, raw.stream->now());
  if (is_there) run.detector.expect(raw.world_rank, begin_s);
  auto freezes = freezes_of(e.cluster.failures, raw.world_rank, e.cluster.workers_per_node);
  std::erase_if(freezes, [&](const Failure& f) { return f.at_s < begin_s; });  // of earlier parts
  stream_->submit(raw, [&run, freezes, begin_s, ended = ended_](const Context& c) {
    send_heartbeats(c, run, freezes, begin_s, *ended);
  });
}

}  // namespace trigram

#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/config/option_type.h"
#include "core/metering/meter.h"

namespace trigram {

/// Records the events of one step of a few ranks for trace.json: what ends in the step, or begins
/// before it has ended. The file has Chrome's trace-event
/// format, which Perfetto can open. A rank is shown as a process and each of its streams as a
/// thread, so slices nest. A message is an arrow from the sending slice to the receiving slice.
class Timeline {
 public:
  Timeline(long step, int ranks) : step_(step), ranks_(static_cast<std::size_t>(ranks)) {}

  /// The event sink of a rank; empty if the rank is not drawn. `steps` gives the rank's current
  /// step. `steps` and this object must outlive the run.
  EventSink sink(int rank, const Steps& steps);
  /// Records that the rank's main stream was delayed at the beginning of the step.
  void delay(int rank, const std::string& stream, double begin_s, double end_s);
  /// Records that the rank's main stream was in the step from `begin_s` to `end_s`. Computation in
  /// real time leaves no events, so `fill` draws computation in the gaps between the other events.
  void end_step(int rank, const std::string& stream, double begin_s, double end_s, bool fill);
  /// The buckets of the model, for the labels of slices. Called by one rank.
  void set_buckets(Json buckets) { buckets_ = std::move(buckets); }
  long step() const { return step_; }

  /// Times count from `origin_s` or, without it, from the first event.
  Json to_json(std::optional<double> origin_s = {}) const;
  /// Serializes the events of a rank for the timeline of another process; "" if the rank is not
  /// drawn.
  std::string rank_to_bytes(int rank) const;
  void rank_from_bytes(int rank, const std::string& bytes);

 private:
  struct Slice {
    Event::Kind kind;
    double begin_s, end_s;
    std::uint64_t bytes = 0;
    std::uint64_t batch = 0;  // of a transfer
    StepLabel label = {};
    Cost::Kind operation = Cost::Kind::other;
    std::vector<int> peers = {};  // of the messages of a transfer
  };
  struct Flow {
    std::string id;  // equal at both ends of the arrow
    bool is_send;
    std::string stream;
    double at_s;
    std::uint64_t bytes, batch;
  };
  struct Rank {
    std::mutex mutex;  // held only while one event is recorded
    std::map<std::string, std::vector<Slice>> streams;
    std::vector<Flow> flows;
    double begin_s = 0, end_s = 0;  // of the step on the main stream; equal if it has not ended
    /// Number of messages so far, by (stream, source, destination). Messages are
    /// first-in-first-out, so equal numbers at both ends identify the same message.
    std::map<std::tuple<std::string, int, int>, long> counts;
  };
  void record_event(Rank& rank, const Event& event, bool drawn) const;
  void record_message(Rank& rank, const Event& event, bool drawn) const;
  static Json arguments_of(const Slice& slice);
  static void append(const Rank& rank, int pid, double origin_s, Json& events);

  long step_;
  Json buckets_ = Json::array();
  std::deque<Rank> ranks_;
};

}  // namespace trigram

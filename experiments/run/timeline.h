#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "core/config/option_type.h"
#include "core/metering/meter.h"

namespace trigram {

/// Records the events of one step of a few ranks, for trace.json: Chrome's trace-event format,
/// which Perfetto opens. A rank is a process and each of its streams a thread, so slices nest; a
/// message is an arrow from the slice that sends to the slice that receives.
class Timeline {
 public:
  Timeline(long step, int ranks) : step_(step), ranks_(static_cast<std::size_t>(ranks)) {}

  /// The sink of a rank's events, empty for a rank that is not drawn. `steps`, which tells the step
  /// that the rank is in, must outlive the run; so must this.
  EventSink sink(int rank, const Steps& steps);
  /// The rank's main stream was in the step from `begin_s` to `end_s`. In real time computation
  /// leaves no events: `fill` draws it between those that there are.
  void end_step(int rank, const std::string& stream, double begin_s, double end_s, bool fill);
  long step() const { return step_; }

  Json to_json() const;
  /// What is known of a rank, for the timeline of another process; "" for one that is not drawn.
  std::string rank_to_bytes(int rank) const;
  void rank_from_bytes(int rank, const std::string& bytes);

 private:
  struct Slice {
    Event::Kind kind;
    double begin_s, end_s;
    std::uint64_t bytes = 0;
  };
  struct Flow {
    std::string id;  // equal at both ends
    bool is_send;
    std::string stream;
    double at_s;
    std::uint64_t bytes;
  };
  struct Rank {
    std::mutex mutex;  // held only while one event is noted
    std::map<std::string, std::vector<Slice>> streams;
    std::vector<Flow> flows;
    /// Messages so far by (stream, source, destination): messages are first-in-first-out, so equal
    /// counts on both sides are the same message.
    std::map<std::tuple<std::string, int, int>, long> counts;
  };
  void note(Rank& rank, const Event& event, bool drawn) const;
  void note_message(Rank& rank, const Event& event, bool drawn) const;
  static void append(const Rank& rank, int pid, double origin_s, Json& events);

  long step_;
  std::deque<Rank> ranks_;
};

}  // namespace trigram

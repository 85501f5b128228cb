#include "netmodels/heartbeats.h"

#include <algorithm>
#include <cstring>

#include "core/check.h"
#include "core/config/fields.h"

namespace trigram {

OptionType<std::optional<Heartbeats>> heartbeats_kind() {
  const auto fields =
      FieldTable<Heartbeats>{}
          .field("every", &Heartbeats::every_s, quantity(Dimension::duration, true),
                 "time from one heartbeat of a worker to the next")
          .field("timeout", &Heartbeats::timeout_s, quantity(Dimension::duration, true),
                 "a worker is suspected when no heartbeat of it has arrived for so long")
          .field("bytes", &Heartbeats::bytes, quantity(Dimension::bytes, true),
                 "size of a heartbeat on the wire")
          .field("lane", &Heartbeats::lane,
                 one_of<Heartbeats::Lane>(
                     {{"shared", Heartbeats::Lane::shared}, {"own", Heartbeats::Lane::own}}),
                 "shared: heartbeats wait in the queues of links behind the bytes of training; "
                 "own: they do not")
          .finish_with([](Heartbeats& h, const std::string& pointer) {
            if (h.timeout_s <= h.every_s)
              throw ConfigError(child(pointer, "timeout"),
                                "expected more than the time between two heartbeats (\"every\")");
          });
  return optional(nested(fields));
}

void HeartbeatDetector::expect(int rank, double date_s) {
  at(rank) = {.expected = true, .last_s = date_s};
}

void HeartbeatDetector::missed(int rank) {
  Worker& worker = at(rank);
  worker.suspected_s = std::min(worker.suspected_s, deadline_s(rank));
}

void HeartbeatDetector::sent(int rank, double sent_s, double arrives_s) {
  Worker& worker = at(rank);
  arrives_s = std::max(arrives_s, worker.last_s);
  if (arrives_s > deadline_s(rank)) missed(rank);
  worker.last_s = arrives_s;
  longest_delay_s_ = std::max(longest_delay_s_, arrives_s - sent_s);
}

std::string HeartbeatDetector::to_bytes() const {
  std::string bytes(sizeof longest_delay_s_ + workers_.size() * sizeof(Worker), '\0');
  std::memcpy(bytes.data(), &longest_delay_s_, sizeof longest_delay_s_);
  std::memcpy(bytes.data() + sizeof longest_delay_s_, workers_.data(),
              workers_.size() * sizeof(Worker));
  return bytes;
}

void HeartbeatDetector::from_bytes(const std::string& bytes) {
  TRIGRAM_CHECK(bytes.size() == sizeof longest_delay_s_ + workers_.size() * sizeof(Worker),
                "the state of heartbeats has {} bytes", bytes.size());
  std::memcpy(&longest_delay_s_, bytes.data(), sizeof longest_delay_s_);
  std::memcpy(workers_.data(), bytes.data() + sizeof longest_delay_s_,
              workers_.size() * sizeof(Worker));
}

}  // namespace trigram

#include "runtime/mpi/rank_watch.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/wait_text.h"

namespace trigram::mpi {

ControlMessage message_of(const host::StreamSnapshot& snapshot) {
  constexpr std::size_t kLongest = 2000;
  std::string lines = fmt::format("{}", fmt::join(snapshot.blocked, "\n"));
  if (lines.size() > kLongest) lines.resize(kLongest);
  return {.kind = ControlMessage::status,
          .a = snapshot.running,
          .b = static_cast<std::int64_t>(snapshot.waits_ended),
          .text = lines};
}

host::StreamSnapshot snapshot_from(const ControlMessage& message) {
  host::StreamSnapshot snapshot{message.a != 0, static_cast<std::uint64_t>(message.b), {}};
  for (std::size_t at = 0; at < message.text.size();) {
    const std::size_t end = std::min(message.text.find('\n', at), message.text.size());
    snapshot.blocked.push_back(message.text.substr(at, end - at));
    at = end + 1;
  }
  return snapshot;
}

RankWatch::RankWatch(int ranks, double watchdog_s)
    : watchdog_(watchdog_s),
      longest_silence_s_(longest_silence_s(watchdog_s)),
      awake_(host::seconds(longest_silence_s_)),
      last_(static_cast<std::size_t>(ranks)) {}

void RankWatch::update_clock() {
  std::lock_guard lock(mutex_);
  awake_.update();
}

void RankWatch::record(int rank, const host::StreamSnapshot& snapshot) {
  std::lock_guard lock(mutex_);
  last_[static_cast<std::size_t>(rank)] = {snapshot, awake_.update()};
}

host::StreamSnapshot RankWatch::all() const {
  host::StreamSnapshot all;
  for (const LastSnapshot& last : last_) all.add(last.snapshot);
  return all;
}

std::optional<HangError> RankWatch::hang() {
  std::lock_guard lock(mutex_);
  const host::StreamSnapshot seen = all();
  if (!watchdog_.hangs(seen)) return std::nullopt;
  const auto oldest = std::ranges::min_element(last_, {}, &LastSnapshot::at);
  if (awake_.update() - oldest->at > 3 * interval()) return std::nullopt;
  return hang_error(seen.blocked);
}

std::optional<int> RankWatch::silent(int first, int last) {
  std::lock_guard lock(mutex_);
  awake_.update();
  for (int rank = first; rank < last; ++rank)
    if (awake_.too_long(last_[static_cast<std::size_t>(rank)].at)) return rank;
  return std::nullopt;
}

std::vector<std::string> RankWatch::blocked() {
  std::lock_guard lock(mutex_);
  return all().blocked;
}

}  // namespace trigram::mpi

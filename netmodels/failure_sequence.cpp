#include <cmath>
#include <limits>
#include <optional>

#include "core/random/philox.h"
#include "netmodels/failures.h"

namespace trigram {
namespace {

constexpr double kNever_s = std::numeric_limits<double>::infinity();

}  // namespace

FailureSequence::FailureSequence(const Failures& failures, std::int64_t nodes)
    : failures_(failures) {
  if (failures.node_mtbf_s <= 0) return;
  crash_s_.resize(static_cast<std::size_t>(nodes));
  drawn_.resize(static_cast<std::size_t>(nodes));
  for (std::size_t node = 0; node < crash_s_.size(); ++node) draw(node);
}

void FailureSequence::draw(std::size_t node) {
  Philox random(static_cast<std::uint64_t>(failures_.seed), static_cast<int>(node), drawn_[node]++,
                Purpose::failure);
  // 1 - uniform is in (0, 1]; two draws make the steps of the logarithm fine enough.
  const double u =
      1 - (static_cast<double>(random.uniform()) + static_cast<double>(random.uniform()) * 0x1p-24);
  crash_s_[node] += -failures_.node_mtbf_s * std::log(u);
}

Failure FailureSequence::next_crash(double from_s) {
  Failure failure = next(from_s);
  while (std::isfinite(failure.at_s) && failure.kind != Failure::Kind::crash)
    failure = next(failure.at_s);
  return failure;
}

Failure FailureSequence::next(double from_s) {
  const auto& events = failures_.events;
  while (next_event_ < events.size() && events[next_event_].at_s < from_s) ++next_event_;
  Failure first{.at_s = kNever_s};
  if (next_event_ < events.size()) first = events[next_event_];
  std::optional<std::size_t> crashed;
  for (std::size_t node = 0; node < crash_s_.size(); ++node) {
    while (crash_s_[node] < from_s) draw(node);
    if (crash_s_[node] >= first.at_s) continue;
    first = {.at_s = crash_s_[node], .node = static_cast<std::int64_t>(node)};
    crashed = node;
  }
  if (crashed) draw(*crashed);
  else if (next_event_ < events.size()) ++next_event_;
  return first;
}

}  // namespace trigram

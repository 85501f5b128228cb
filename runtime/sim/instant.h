#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/stream.h"

namespace trigram::sim {

class Milestone;

/// A point of simulated time: a date, or so many seconds after a milestone that nobody has come to.
class Instant {
 public:
  static Instant at(double date_s) { return {nullptr, date_s}; }
  static Instant after(std::shared_ptr<Milestone> milestone, double seconds) {
    return {std::move(milestone), seconds};
  }
  /// The later of both.
  static Instant later(Instant a, Instant b);

  /// Whether the date is known by now.
  bool known() const;
  /// Once it is known.
  double date_s() const { return seconds_; }
  /// While it is not: a milestone that has to be reached first.
  Milestone& next() const;
  /// Null if the date is known.
  const std::shared_ptr<Milestone>& milestone() const { return milestone_; }
  /// After the milestone, if there is one.
  double seconds() const { return seconds_; }

 private:
  Instant(std::shared_ptr<Milestone> milestone, double seconds)
      : milestone_(std::move(milestone)), seconds_(seconds) {}
  mutable std::shared_ptr<Milestone> milestone_;
  mutable double seconds_;
};

/// What happens at a date that is not known before: a collective ends, or the later of two instants
/// comes.
class Milestone {
 public:
  Milestone() = default;
  Milestone(Instant a, Instant b) : later_of_(std::pair(std::move(a), std::move(b))) {}
  Milestone(const Milestone&) = delete;
  Milestone& operator=(const Milestone&) = delete;

  /// Calls `action` when it is reached.
  void when_reached(std::function<void()> action) { actions_.push_back(std::move(action)); }
  /// Is reached at `date_s`.
  void reach(double date_s);
  bool reached() const { return known_; }

 private:
  friend class Instant;
  bool known();
  bool known_ = false;
  double date_s_ = 0;
  std::optional<std::pair<Instant, Instant>> later_of_;
  std::vector<std::function<void()>> actions_;
};

/// An instant of a stream, as those who measure know it.
class InstantMoment final : public Moment {
 public:
  explicit InstantMoment(Instant instant) : instant_(std::move(instant)) {}
  bool known() const override { return instant_.known(); }
  double seconds() const override { return instant_.known() ? instant_.date_s() : 0; }

 private:
  Instant instant_;
};

}  // namespace trigram::sim

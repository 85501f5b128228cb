#include "runtime/sim/instant.h"

#include <algorithm>

namespace trigram::sim {

Instant Instant::later(Instant a, Instant b) {
  const bool both_known = a.known() && b.known();
  if (both_known || a.milestone_ == b.milestone_) return a.seconds_ > b.seconds_ ? a : b;
  return after(std::make_shared<Milestone>(std::move(a), std::move(b)), 0);
}

bool Instant::known() const {
  if (!milestone_) return true;
  if (!milestone_->known()) return false;
  seconds_ += milestone_->date_s_;
  milestone_.reset();
  return true;
}

/// Of two, the newer: what it waits for mostly comes last.
Milestone& Instant::next() const {
  const Instant* instant = this;
  while (const auto& both = instant->milestone_->later_of_)
    instant = both->second.known() ? &both->first : &both->second;
  return *instant->milestone_;
}

bool Milestone::known() {
  if (known_ || !later_of_) return known_;
  if (!later_of_->second.known() || !later_of_->first.known()) return false;
  date_s_ = std::max(later_of_->first.date_s(), later_of_->second.date_s());
  later_of_.reset();
  return known_ = true;
}

void Milestone::reach(double date_s) {
  date_s_ = date_s;
  known_ = true;
  for (const auto& action : std::exchange(actions_, {})) action();
}

}  // namespace trigram::sim

#include "runtime/host/schedule.h"

#include <utility>

namespace trigram::host {

void Schedule::at(double date_s, Action action) { actions_.emplace(date_s, std::move(action)); }

void Schedule::run_due(double now_s) {
  while (!actions_.empty() && actions_.begin()->first <= now_s) {
    const auto due = actions_.extract(actions_.begin());
    due.mapped()();
  }
}

}  // namespace trigram::host

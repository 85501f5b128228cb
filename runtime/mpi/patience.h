#pragma once

#include <algorithm>

#include "runtime/host/awake.h"

namespace trigram::mpi {

/// Of a process that has waited for others in vain.
inline constexpr int kWatchdogExit = 124;

/// How long a process waits for others, as far as it was awake itself.
class Patience {
 public:
  explicit Patience(double s) : longest_(host::seconds(s)) {}
  /// To be asked often (see Awake).
  bool is_over() {
    const auto now = host::Clock::now();
    return now - awake_.since(now) >= longest_;
  }
  host::Clock::duration look_interval() const { return std::min(longest_ / 4, host::seconds(0.5)); }

 private:
  const host::Clock::duration longest_;
  host::Awake awake_;
};

}  // namespace trigram::mpi

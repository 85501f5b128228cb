#pragma once

#include <hwy/targets.h>

#include <cstdint>

namespace trigram::test {

/// Calls check(name) once for every vector instruction set that this machine supports and for which
/// the dispatched code was compiled, with that instruction set selected. Afterwards restores the
/// best one.
template <class Check>
void for_each_vector_target(const Check& check) {
  const auto choose = [](std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  };
  const std::int64_t available = hwy::SupportedTargets() & HWY_TARGETS;
  for (std::int64_t rest = available; rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    choose(target);
    check(hwy::TargetName(target));
  }
  choose(0);
}

}  // namespace trigram::test

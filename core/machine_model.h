#pragma once

namespace trigram {

/// Effects of a machine description on the speed of a rank.
class MachineModel {
 public:
  virtual ~MachineModel() = default;
  /// Factor on the rank's computation time during a step: 1 is nominal, 2 is twice as slow.
  virtual double compute_factor(int rank, long step) const = 0;
  /// Seconds by which the rank is delayed at the start of a step.
  virtual double delay(int rank, long step) const = 0;
};

}  // namespace trigram

#pragma once

namespace trigram {

/// What a description of machines decides about the speed of a rank.
class MachineModel {
 public:
  virtual ~MachineModel() = default;
  /// Factor on the rank's computation during a step; 1 is nominal, 2 twice as slow.
  virtual double compute_factor(int rank, long step) const = 0;
  /// Seconds by which the rank is held up at the start of a step.
  virtual double delay(int rank, long step) const = 0;
};

}  // namespace trigram

#pragma once

#include <cstddef>
#include <string>

namespace trigram {

/// An accelerator and its peak rates at the precision used for training, in FLOP/s and bytes/s. A
/// rate is 0 if unknown.
struct AcceleratorRates {
  std::string name;
  double flops_per_s = 0;
  double memory_Bps = 0;
  bool known() const { return flops_per_s > 0 && memory_Bps > 0; }
};

/// "P100 (9.3 TFLOP/s, 732 GB/s)"; only the name if the rates are unknown.
std::string text_of(const AcceleratorRates& accelerator);

/// True if both names refer to the same machine: one name contains all words of the other, ignoring
/// case ("NVIDIA A100-SXM4-80GB" is an "A100").
bool same_accelerator(const AcceleratorRates& a, const AcceleratorRates& b);
/// True if the known rates differ by at most 5 %, which allows for rounded figures of one machine.
/// Rates of other form factors (PCIe, SXM) or of another precision differ by more.
bool same_rates(const AcceleratorRates& a, const AcceleratorRates& b);

/// The layer times that a workload computes with, and their origin.
struct LayerTimes {
  std::string profile;           // name of the profile
  std::size_t batch = 1;         // the batch with which the times were measured
  AcceleratorRates measured_on;  // empty name: unknown
  AcceleratorRates times_for;    // the accelerator that the options scale to; empty name: unknown
  bool measured_here = false;    // the user gave a step time measured on their machine
  bool has_flops = false;        // can be scaled to another accelerator
  /// Seconds of one forward and one backward pass. If the times are scaled to another accelerator,
  /// least_s and most_s bound step_s: they are the values if all time scaled with the memory
  /// bandwidth alone, or with the FLOP rate alone.
  double step_s = 0, least_s = 0, most_s = 0;
};

}  // namespace trigram

#pragma once

#include <cstddef>
#include <string>

namespace trigram {

/// An accelerator and its peak rates, at the precision that is trained in; 0 where nobody says.
struct AcceleratorRates {
  std::string name;
  double flops_per_s = 0;
  double memory_Bps = 0;
  bool known() const { return flops_per_s > 0 && memory_Bps > 0; }
};

/// "P100 (9.3 TFLOP/s, 732 GB/s)"; the name alone where rates are not known.
std::string text_of(const AcceleratorRates& accelerator);

/// Whether both are the same machine by name: one name holds all words of the other, whatever the
/// case ("NVIDIA A100-SXM4-80GB" is an "A100").
bool same_accelerator(const AcceleratorRates& a, const AcceleratorRates& b);
/// Whether the rates that both give differ by 5 % at most, as rounded figures of one machine do.
/// The rates of a machine's other forms (PCIe, SXM) or of another precision differ by more.
bool same_rates(const AcceleratorRates& a, const AcceleratorRates& b);

/// Whose layer times a workload computes with.
struct LayerTimes {
  std::string profile;           // its name
  std::size_t batch = 1;         // with which they were measured
  AcceleratorRates measured_on;  // name empty: nobody says
  AcceleratorRates stand_for;    // as options take them; name empty: nobody says
  bool measured_here = false;    // a step, by the user, who answers for the machine
  bool has_flops = false;        // so that they can be scaled to another accelerator
  /// Seconds of a forward and a backward pass; with times that are scaled to another accelerator,
  /// what they would be if all of them went with memory traffic alone, or with arithmetic alone.
  double step_s = 0, least_s = 0, most_s = 0;
};

}  // namespace trigram

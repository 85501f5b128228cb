#include "experiments/bench/bench_table.h"

#include <fmt/format.h>

namespace trigram {
namespace {

constexpr const char* kColumns =
    "{:>14} {:>18} {:>12} {:>12} {:>6} {:>6} {:>10} {:>8} {:>8} {:>6}\n";

/// Four significant digits.
std::string four_digits(double value) { return fmt::format("{:.4g}", value); }

}  // namespace

std::string bench_header() {
  return fmt::format(fmt::runtime(kColumns), "operation", "algorithm", "size", "count", "type",
                     "redop", "time", "algbw", "busbw", "#wrong") +
         fmt::format(fmt::runtime(kColumns), "", "", "(B)", "(elements)", "", "", "(us)", "(GB/s)",
                     "(GB/s)", "");
}

std::string bench_row(const Measurement& m) {
  return fmt::format(fmt::runtime(kColumns), m.operation, m.algorithm, m.bytes, m.count, "float",
                     m.redop, four_digits(1e6 * m.seconds), four_digits(1e-9 * m.algorithm_Bps()),
                     four_digits(1e-9 * m.bus_Bps()), m.wrong ? std::to_string(*m.wrong) : "N/A");
}

Json bench_json(const Measurement& m) {
  return {{"operation", m.operation}, {"algorithm", m.algorithm},
          {"bytes", m.bytes},         {"count", m.count},
          {"type", "float"},          {"redop", m.redop},
          {"time_s", m.seconds},      {"algbw_Bps", m.algorithm_Bps()},
          {"busbw_Bps", m.bus_Bps()}, {"wrong", m.wrong ? Json(*m.wrong) : Json()}};
}

}  // namespace trigram

#include "core/workloads/accelerator_scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

namespace trigram {
namespace {

/// Sources round the figures of one accelerator; they differ by at most this factor. Form factors
/// of one accelerator differ by more: a P100 has 9.3 TFLOP/s with PCIe and 10.6 with SXM, a V100
/// has 14 and 15.7.
constexpr double kSameRates = 1.05;

std::set<std::string> words_of(const std::string& name) {
  std::set<std::string> words;
  std::string word;
  for (const char c : name + " ") {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!word.empty()) {
      words.insert(std::exchange(word, {}));
    }
  }
  return words;
}

bool near(double a, double b) {
  return a == 0 || b == 0 || std::max(a, b) <= kSameRates * std::min(a, b);
}

/// Scales the times of one pass; `time` and `flops` select the columns of that pass. Arithmetic
/// that exceeds the time of its layer is spread over the other layers in proportion to their slack.
void scale_pass(Profile& profile, double ProfileTensor::*time,
                std::optional<std::int64_t> ProfileTensor::*flops, double arithmetic,
                double traffic) {
  const auto at_peak_s = [&](const ProfileTensor& row) {
    return static_cast<double>(*(row.*flops)) / profile.measured_on.flops_per_s;
  };
  double excess_s = 0, slack_s = 0;
  for (const ProfileTensor& row : profile.tensors) {
    excess_s += std::max(0.0, at_peak_s(row) - row.*time);
    slack_s += std::max(0.0, row.*time - at_peak_s(row));
  }
  const double share = slack_s > 0 ? std::min(1.0, excess_s / slack_s) : 0;
  for (ProfileTensor& row : profile.tensors) {
    const double whole_s = row.*time, own_s = std::min(whole_s, at_peak_s(row));
    const double arithmetic_s = own_s + share * (whole_s - own_s);
    row.*time = arithmetic * arithmetic_s + traffic * (whole_s - arithmetic_s);
  }
}

}  // namespace

std::string text_of(const AcceleratorRates& a) {
  if (!a.known()) return a.name;
  return fmt::format("{} ({:.3g} TFLOP/s, {:.4g} GB/s)", a.name, a.flops_per_s / 1e12,
                     a.memory_Bps / 1e9);
}

bool same_accelerator(const AcceleratorRates& a, const AcceleratorRates& b) {
  const auto first = words_of(a.name), second = words_of(b.name);
  return !first.empty() && !second.empty() &&
         (std::ranges::includes(first, second) || std::ranges::includes(second, first));
}

bool same_rates(const AcceleratorRates& a, const AcceleratorRates& b) {
  return near(a.flops_per_s, b.flops_per_s) && near(a.memory_Bps, b.memory_Bps);
}

bool can_scale(const Profile& profile, const AcceleratorRates& to) {
  return profile.has_flops() && profile.measured_on.known() && to.known() &&
         !same_accelerator(profile.measured_on, to);
}

ScaledTimes scaled_to(Profile profile, const AcceleratorRates& to) {
  const AcceleratorRates from = profile.measured_on;
  const double arithmetic = from.flops_per_s / to.flops_per_s;
  const double traffic = from.memory_Bps / to.memory_Bps;
  const double before_s = profile.forward_s() + profile.backward_s();
  scale_pass(profile, &ProfileTensor::forward_s, &ProfileTensor::forward_flops, arithmetic,
             traffic);
  scale_pass(profile, &ProfileTensor::backward_s, &ProfileTensor::backward_flops, arithmetic,
             traffic);
  const double least_s = before_s * std::min(arithmetic, traffic);
  const double most_s = before_s * std::max(arithmetic, traffic);
  return {std::move(profile), least_s, most_s};
}

std::string assumption(const ScaledTimes& scaled, const Profile& measured,
                       const AcceleratorRates& to) {
  const auto ms = [](const Profile& p) { return 1e3 * (p.forward_s() + p.backward_s()); };
  return fmt::format(
      "layer times of {} were measured on {}; on {} a step's computation is taken to last {:.4g} "
      "ms instead of {:.4g} ms: arithmetic scales with FLOP/s, the rest of the time with memory "
      "bandwidth; {:.4g} to {:.4g} ms if all of it scaled with one of the two; give a measured "
      "step_time to say otherwise",
      measured.name, text_of(measured.measured_on), text_of(to), ms(scaled.profile), ms(measured),
      1e3 * scaled.least_s, 1e3 * scaled.most_s);
}

}  // namespace trigram

#include "algorithms/execution/averages.h"

#include <fmt/format.h>

#include <memory>

#include "algorithms/primitives/bandwidth_shares.h"

namespace trigram {
namespace {

Feedback residuals_of(Context c, const Tensor& x, const TrainingState& state) {
  return {c, x, state};
}

Tensor residual_of_own_code(Context c, const Tensor& x, const TrainingState& state) {
  return state.zeros_like(c, "worker", x);
}

/// Calls `average` with a codec and, if the coding has error feedback, with the residuals of the
/// bucket, which `residuals_for` takes from the state that it is given.
template <class Average, class ResidualsFor = decltype(&residuals_of)>
Exchange coded(const Coding& coding, const Average& average,
               const ResidualsFor& residuals_for = residuals_of) {
  return [coding, average, residuals_for](Context c, const Tensor& x, Slot slot) {
    const auto codec = c.device->codec(coding.codec, codec_key(c, coding.seed, slot));
    if (!coding.error_feedback) return average(c, x, *codec, nullptr);
    const TrainingState kept = coding.state.child(fmt::format("residuals {}", slot.bucket));
    const auto residuals = residuals_for(c, x, kept);
    average(c, x, *codec, &residuals);
  };
}

Exchange average_by_bandwidth(const Coding& coding) {
  // All exchanges of a run are among the same ranks, so the shares are computed once.
  const auto known = std::make_shared<std::vector<double>>();
  const auto shares = [known](Context c) -> const std::vector<double>& {
    if (known->empty()) *known = shares_by_bandwidth(bandwidths_of(c)).shares;
    return *known;
  };
  return coded(
      coding,
      [shares](Context c, const Tensor& x, Codec& codec, const Feedback* feedback) {
        c_lp_s_by_share(c, x, codec, shares(c), feedback);
      },
      [shares](Context c, const Tensor& x, const TrainingState& state) {
        return feedback_by_share(c, x, shares(c), state);
      });
}

}  // namespace

Exchange full_average(const AllreduceSpec& algorithm) {
  return [algorithm](Context c, const Tensor& x, Slot) { c_fp_s(c, x, algorithm); };
}

Exchange coded_average(const Coding& coding) {
  if (coding.shares == Shares::by_bandwidth) return average_by_bandwidth(coding);
  return coded(coding, [phase2 = coding.phase2](Context c, const Tensor& x, Codec& codec,
                                                const Feedback* feedback) {
    c_lp_s(c, x, codec, phase2, feedback);
  });
}

Exchange gathered_average(const Coding& coding) {
  return coded(coding, c_lp_gather, residual_of_own_code);
}

Exchange coded_ring_average(const CodecSpec& codec, std::uint64_t seed) {
  return [codec, seed](Context c, const Tensor& x, Slot slot) {
    c_lp_ring(c, x, *c.device->codec(codec, codec_key(c, seed, slot)));
  };
}

Exchange tree_average(const Coding& coding) {
  return coded(coding, c_lp_tree, residual_of_own_code);
}

}  // namespace trigram

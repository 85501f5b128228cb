#include "algorithms/execution/averages.h"

#include <map>
#include <memory>

namespace trigram {
namespace {

/// Calls `average` with a codec and, if the coding has error feedback, with the residuals of the
/// bucket. Only one stream may run the exchange.
template <class Average>
Exchange coded(const Coding& coding, const Average& average) {
  const auto residuals = std::make_shared<std::map<int, Feedback>>();  // by bucket
  return [coding, residuals, average](Context c, const Tensor& x, Slot slot) {
    const auto codec = c.device->codec(coding.codec, codec_key(c, coding.seed, slot));
    const Feedback* feedback = nullptr;
    if (coding.error_feedback) feedback = &residuals->try_emplace(slot.bucket, c, x).first->second;
    average(c, x, *codec, feedback);
  };
}

}  // namespace

Exchange full_average(const AllreduceSpec& algorithm) {
  return [algorithm](Context c, const Tensor& x, Slot) { c_fp_s(c, x, algorithm); };
}

Exchange coded_average(const Coding& coding) {
  return coded(coding, [phase2 = coding.phase2](Context c, const Tensor& x, Codec& codec,
                                                const Feedback* feedback) {
    c_lp_s(c, x, codec, phase2, feedback);
  });
}

Exchange gathered_average(const Coding& coding) { return coded(coding, c_lp_gather); }

Exchange tree_average(const Coding& coding) { return coded(coding, c_lp_tree); }

}  // namespace trigram

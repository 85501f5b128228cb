#include "algorithms/execution/averages.h"

#include <map>
#include <memory>

namespace trigram {
namespace {

/// The residuals of a run, by bucket. Only one stream may use it.
class Residuals {
 public:
  const Feedback& of(const Context& ctx, const Tensor& x, int bucket) {
    return by_bucket_.try_emplace(bucket, ctx, x).first->second;
  }

 private:
  std::map<int, Feedback> by_bucket_;
};

/// Calls `average` with a codec and, if the coding has error feedback, with the residuals.
template <class Average>
Exchange coded(const Coding& coding, const Average& average) {
  auto residuals = coding.error_feedback ? std::make_shared<Residuals>() : nullptr;
  return [coding, residuals, average](Context c, const Tensor& x, Slot slot) {
    const auto codec = c.device->codec(coding.codec, codec_key(c, coding.seed, slot));
    average(c, x, *codec, residuals ? &residuals->of(c, x, slot.bucket) : nullptr);
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

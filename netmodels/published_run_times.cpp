#include "netmodels/run_times.h"

namespace trigram {
namespace {

RunTimes bounded_ms(double smallest, double largest, double mean, double deviation) {
  RunTimes times;
  times.kind = RunTimes::Shape::bounded;
  times.smallest_s = smallest / 1e3;
  times.largest_s = largest / 1e3;
  times.mean_s = mean / 1e3;
  times.deviation_s = deviation / 1e3;
  return times;
}

RunTimes quantiles(std::vector<Quantile> points) {
  RunTimes times;
  times.kind = RunTimes::Shape::quantiles;
  times.quantiles = std::move(points);
  return times;
}

}  // namespace

const std::vector<PublishedRunTimes>& published_run_times() {
  static const std::vector<PublishedRunTimes> all = {
      {"ucf101_lstm",
       "LSTM on UCF101, batch 16, P100: range, mean and deviation of Li et al., \"Taming "
       "unbalanced "
       "training workloads in deep learning with partial collective operations\" (PPoPP'20, arXiv "
       "1908.04207); the shape is assumed",
       bounded_ms(201, 3410, 1235, 706)},
      {"wmt16_transformer",
       "Transformer on WMT16, batch 64, P100: range, mean and deviation of Li et al. (arXiv "
       "1908.04207); the shape is assumed",
       bounded_ms(179, 3482, 475, 144)},
      {"resnet50_cloud",
       "ResNet-50 on ImageNet, batch 256, two V100 of a cloud: range, mean and deviation of Li et "
       "al. (arXiv 1908.04207); "
       "the shape is assumed",
       bounded_ms(399, 1892, 454, 116)},
      {"wmt17_transformer",
       "Transformer on WMT17, 8,192 tokens, P100: quartiles and range read off a figure of Li et "
       "al., WAGMA-SGD (arXiv 2005.00124); linear in between",
       quantiles({{0, 0.05}, {0.25, 0.19}, {0.5, 0.26}, {0.75, 0.365}, {1, 0.72}})},
      {"habitat_ddppo",
       "DD-PPO on Habitat, collecting 256 experience steps, P100: range and quartiles read off a "
       "figure of WAGMA-SGD (arXiv 2005.00124), as are the clusters beyond the whisker, 4.3 to 5 s "
       "and 9.5 to 14 s, and the single points up to 43.5 s of 5,000; that 1.5 % and 0.48 % are in "
       "the clusters is assumed",
       quantiles({{0, 1.7},
                  {0.25, 1.78},
                  {0.75, 1.87},
                  {0.98, 2.0},
                  {0.98, 4.3},
                  {0.995, 5},
                  {0.995, 9.5},
                  {0.9998, 14},
                  {1, 43.5}})}};
  return all;
}

}  // namespace trigram

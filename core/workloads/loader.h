#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/config/fields.h"

namespace trigram {

/// How the ranks share samples whose sizes, such as numbers of tokens, differ.
struct LoaderOptions {
  enum class Order { random, balanced };
  Order order = Order::random;
  /// For the order balanced: the range of the noise on sizes, relative to the range of sizes.
  double random_level = 0;
  /// The most tokens of a mini-batch; empty if every mini-batch has the same number of samples.
  std::optional<std::size_t> tokens = {};
  bool drop_last = true;
};
FieldTable<LoaderOptions> loader_fields();

/// The samples of all ranks in an epoch: element p * ranks + r is the sample of rank r at position
/// p. Every rank has floor(samples / ranks) positions with `drop_last`, ceil(samples / ranks)
/// otherwise.
///
/// Order random: rank r takes the positions r, r + ranks, ... of the permutation that Sampler uses.
///
/// Order balanced: the rules of Bagua's LoadBalancingDistributedSampler (github.com/BaguaSys/bagua
/// at 3e480d29, bagua/torch_api/contrib/load_balancing_data_loader.py). A random integer in [0, k)
/// is added to every size, where k = floor((largest - smallest) * random_level + 1). The samples
/// are sorted and cut into groups of one sample per rank, and the groups are permuted, so that at
/// every position all ranks have samples of about the same size. Unlike in Bagua, samples of equal
/// size are in random order, and the samples that `drop_last` leaves out are drawn at random; in
/// Bagua, they are always the largest.
///
/// Without `drop_last`, the last group is filled with the samples before it, which in the order
/// balanced are its neighbours in size. (Bagua's sampler fills it with the smallest samples.)
///
/// Sizes must be below 2^32. Depends on the arguments alone. Throws InvariantError if there are
/// fewer samples than ranks.
std::vector<std::uint32_t> epoch_order(std::span<const std::size_t> sizes, int ranks,
                                       const LoaderOptions& options, std::uint64_t seed,
                                       long epoch);

/// The mini-batches of one rank, in their order.
using MiniBatches = std::vector<std::vector<std::uint32_t>>;

/// The mini-batches of one rank in an epoch, which hold consecutive positions of epoch_order. All
/// ranks have the same number of mini-batches.
///
/// Without `options.tokens`, a mini-batch has `batch` samples, and `drop_last` leaves out a shorter
/// last mini-batch. With `options.tokens`, a mini-batch takes samples as long as the sum of their
/// sizes is not above `tokens`. In the order balanced, a mini-batch ends on all ranks as soon as it
/// is full on one, so that ranks stay at the same positions. In the order random, each rank ends
/// its own mini-batches, and longer lists are then cut to the shortest list with `drop_last`;
/// otherwise shorter lists are extended to the longest list by their own first mini-batches. A
/// sample larger than `tokens` is a mini-batch of its own.
MiniBatches mini_batches(std::span<const std::size_t> sizes, int rank, int ranks,
                         const LoaderOptions& options, std::size_t batch, std::uint64_t seed,
                         long epoch);

/// Selects the mini-batches of a rank, epoch after epoch. By default, they are those of Sampler.
class Loader {
 public:
  using Sizes = std::shared_ptr<const std::vector<std::size_t>>;
  Loader(Sizes sizes, const LoaderOptions& options, std::size_t batch, int rank, int ranks,
         std::uint64_t seed);

  /// The mini-batch of the rank's next step; valid until the next call.
  std::span<const std::uint32_t> next();
  /// Samples in a mini-batch; with a budget of tokens the mean of the first epoch, rounded.
  std::size_t batch() const { return mean_batch_; }

 private:
  void draw_epoch();

  Sizes sizes_;
  LoaderOptions options_;
  std::size_t batch_, mean_batch_;
  int rank_, ranks_;
  std::uint64_t seed_;
  long epoch_ = 0;
  std::size_t next_ = 0;
  MiniBatches batches_;  // of the current epoch
};

}  // namespace trigram

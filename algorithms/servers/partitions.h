#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/config/option_type.h"
#include "core/layout.h"
#include "core/tensor.h"
#include "core/workers.h"

// How a model is divided among parameter servers.

namespace trigram {

/// `x` in as few nearly equal parts as keep each at or below `nbytes` priced bytes; at least one.
std::vector<Tensor> partitions(const Tensor& x, std::size_t nbytes);
/// `x` in parts of `nbytes` priced bytes, but for the last, which has what is left; at least one.
std::vector<Tensor> full_partitions(const Tensor& x, std::size_t nbytes);

/// Whether servers are among the workers, or ranks beside them that only serve.
enum class Placement { among, beside };

/// Which ranks serve: `count` of `ranks`, spread evenly, so that nodes share them. Servers among
/// the workers begin with the first rank; servers beside them end with the last, and rank 0 works.
class Servers {
 public:
  Servers(std::size_t count, int ranks, Placement placement = Placement::among)
      : count_(count), ranks_(static_cast<std::size_t>(ranks)), placement_(placement) {}
  std::size_t count() const { return count_; }
  bool include(int rank) const;
  std::vector<int> ranks() const;
  int rank_of(std::size_t server) const;
  /// All ranks, or those that do not serve.
  Workers workers() const;

 private:
  std::size_t count_, ranks_;
  Placement placement_;
};

/// The option "partition": a size that holds an element at least.
OptionType<std::size_t> partition_kind();
/// The option "placement".
OptionType<Placement> placement_kind();
/// The option "servers": a number from 1, or "all" ranks (0 in memory).
OptionType<std::int64_t> servers_kind();
/// Throws ConfigError when there are more servers than ranks, or as many and nobody to work.
void check_servers(std::int64_t servers, const Layout& layout, const std::string& pointer,
                   Placement placement = Placement::among);
/// What the option stands for among `ranks`.
Servers servers_among(std::int64_t servers, int ranks, Placement placement = Placement::among);

}  // namespace trigram

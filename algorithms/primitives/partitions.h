#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/config/kinds.h"
#include "core/layout.h"
#include "core/tensor.h"

// How a model is divided among parameter servers.

namespace trigram {

/// `x` in as few nearly equal parts as keep each at or below `nbytes` priced bytes; at least one.
std::vector<Tensor> partitions(const Tensor& x, std::size_t nbytes);

/// Which ranks serve: `count` of `ranks`, spread evenly, so that nodes share them.
class Servers {
 public:
  Servers(std::size_t count, int ranks) : count_(count), ranks_(static_cast<std::size_t>(ranks)) {}
  std::size_t count() const { return count_; }
  bool include(int rank) const;
  std::vector<int> ranks() const;
  int rank_of(std::size_t server) const { return static_cast<int>(server * ranks_ / count_); }

 private:
  std::size_t count_, ranks_;
};

/// The option "partition": a size that holds an element at least.
Kind<std::size_t> partition_kind();
/// The option "servers": a number from 1, or "all" ranks (0 in memory).
Kind<std::int64_t> servers_kind();
/// Throws ConfigError when there are more servers than ranks.
void check_servers(std::int64_t servers, const Layout& layout, const std::string& pointer);
/// What the option stands for among `ranks`.
Servers servers_among(std::int64_t servers, int ranks);

}  // namespace trigram

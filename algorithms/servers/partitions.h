#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/config/option_type.h"
#include "core/context.h"
#include "core/layout.h"
#include "core/tensor.h"

// How a model is divided over parameter servers.

namespace trigram {

/// Divides `x` into as few nearly equal parts as possible, at least one. `nbytes` is the most that
/// each part has, in bytes as the network sees them (priced bytes, see Tensor).
std::vector<Tensor> partitions(const Tensor& x, std::size_t nbytes);
/// Divides `x` into parts of `nbytes` priced bytes; the last part has the remainder. Returns at
/// least one part.
std::vector<Tensor> full_partitions(const Tensor& x, std::size_t nbytes);

/// Servers are among the workers, or they are ranks beside the workers that only serve.
enum class Placement { among, beside };

/// The ranks that serve: `count` of `ranks` ranks, spread evenly over the nodes. With servers among
/// the workers, rank 0 is the first server. With servers beside the workers, the last rank is the
/// last server, and rank 0 is a worker.
class Servers {
 public:
  Servers(std::size_t count, int ranks, Placement placement = Placement::among)
      : count_(count), rank_count_(static_cast<std::size_t>(ranks)), placement_(placement) {}
  std::size_t count() const { return count_; }
  bool include(int rank) const;
  std::vector<int> serving_ranks() const;
  int rank_of(std::size_t server) const;
  /// With servers among the workers, all ranks; with servers beside the workers, the ranks that do
  /// not serve.
  Workers workers() const;

 private:
  std::size_t count_, rank_count_;
  Placement placement_;
};

/// The option "partition": a size in bytes, at least that of one element.
OptionType<std::size_t> partition_kind();
/// The option "placement".
OptionType<Placement> placement_kind();
/// The option "servers": a number from 1 on, or "all" ranks, which is represented by 0.
OptionType<std::int64_t> servers_kind();
/// Throws ConfigError if there are more servers than ranks, or if no rank is left to work.
void check_servers(std::int64_t servers, const Layout& layout, const std::string& pointer,
                   Placement placement = Placement::among);
/// The servers that the option selects among `ranks`.
Servers make_servers(std::int64_t servers, int ranks, Placement placement = Placement::among);

}  // namespace trigram

#include "algorithms/servers/assignment.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "algorithms/servers/partitions.h"

namespace trigram {
namespace {

/// The number of each bucket if buckets are sorted by name; buckets with equal names are numbered
/// in the order of the forward pass.
std::vector<std::size_t> numbers_by_name(std::span<const Bucket> buckets) {
  std::vector<std::size_t> by_name(buckets.size());
  std::iota(by_name.rbegin(), by_name.rend(), std::size_t{0});
  std::stable_sort(by_name.begin(), by_name.end(),
                   [&](std::size_t a, std::size_t b) { return buckets[a].name < buckets[b].name; });
  std::vector<std::size_t> numbers(buckets.size());
  for (std::size_t d = 0; d < by_name.size(); ++d) numbers[by_name[d]] = d;
  return numbers;
}

/// Divides each server's load into equal shares, one for each round. The number of rounds is the
/// largest load divided by `nbytes`, rounded up.
void form_rounds(std::vector<Partition>& all, std::size_t servers, std::size_t nbytes) {
  std::vector<std::size_t> load(servers), before(servers);
  for (const Partition& p : all) load[p.server] += p.grad.priced_nbytes();
  const std::size_t fullest = *std::max_element(load.begin(), load.end());
  const std::size_t shares = (fullest + nbytes - 1) / nbytes;
  for (Partition& p : all) {
    p.round = load[p.server] == 0 ? 0 : before[p.server] * shares / load[p.server];
    before[p.server] += p.grad.priced_nbytes();
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Partition& a, const Partition& b) { return a.round < b.round; });
  // If a partition is longer than a share, it can happen that no partition begins in a share. Such
  // shares are skipped.
  std::size_t number = 0, share = all.front().round;
  for (Partition& p : all) {
    if (p.round != share) ++number;
    share = std::exchange(p.round, number);
  }
}

/// Sets `begin` of each partition. The partitions are sorted by round.
void set_begins(std::vector<Partition>& all, std::size_t servers) {
  std::vector<std::size_t> begin(servers);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Partition& p = all[i];
    if (i > 0 && p.round != all[i - 1].round) begin.assign(servers, 0);
    p.begin = std::exchange(begin[p.server], begin[p.server] + p.grad.numel());
  }
}

}  // namespace

std::vector<Partition> assign(std::span<const Bucket> buckets, std::size_t servers,
                              std::size_t nbytes, double early, Assignment assignment) {
  const bool hashed = assignment == Assignment::djb2;
  const std::vector<std::size_t> number = numbers_by_name(buckets);
  std::vector<Partition> all;
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    const Tensor& grad = buckets[b].grad;
    std::uint64_t key = std::uint64_t{number[b]} << 16;
    for (const Tensor& part : hashed ? full_partitions(grad, nbytes) : partitions(grad, nbytes))
      all.push_back({buckets[b].index, part, djb2_server(key++, servers)});
  }
  const auto early_count = std::ceil(early * static_cast<double>(all.size()));
  std::stable_sort(all.begin() + static_cast<std::ptrdiff_t>(early_count), all.end(),
                   [](const Partition& a, const Partition& b) { return a.bucket > b.bucket; });
  if (hashed) form_rounds(all, servers, nbytes);
  else
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].server = i % servers;
      all[i].round = i / servers;
    }
  set_begins(all, servers);
  return all;
}

std::size_t djb2_server(std::uint64_t key, std::size_t servers) {
  std::uint64_t hash = 5381;
  for (const char digit : std::to_string(key)) hash = 33 * hash + static_cast<unsigned char>(digit);
  return hash % servers;
}

OptionType<Assignment> assignment_kind() {
  return one_of<Assignment>({{"round_robin", Assignment::round_robin}, {"djb2", Assignment::djb2}});
}

}  // namespace trigram

#include "algorithms/servers/partitions.h"

#include <fmt/format.h>

#include <algorithm>

#include "algorithms/collectives/point_to_point.h"

namespace trigram {

std::vector<Tensor> partitions(const Tensor& x, std::size_t nbytes) {
  return parts(x, parts_within(x, nbytes));
}

std::vector<Tensor> full_partitions(const Tensor& x, std::size_t nbytes) {
  const std::size_t numel = x.priced_numel(), longest = nbytes / size_of(x.dtype());
  if (numel <= longest) return {x};
  std::vector<Tensor> pieces;
  for (std::size_t i = 0; i < numel; i += longest)  // counts parts of one priced element
    pieces.push_back(x.parts(i, std::min(i + longest, numel), numel));
  return pieces;
}

int Servers::rank_of(std::size_t server) const {
  if (placement_ == Placement::among) return static_cast<int>(server * rank_count_ / count_);
  return static_cast<int>(rank_count_ - 1 - (count_ - 1 - server) * rank_count_ / count_);
}

Workers Servers::workers() const {
  Workers workers;
  for (int rank = 0; rank < static_cast<int>(rank_count_); ++rank)
    if (placement_ == Placement::among || !include(rank)) workers.ranks.push_back(rank);
  return workers;
}

bool Servers::include(int rank) const {
  for (std::size_t s = 0; s < count_; ++s)
    if (rank_of(s) == rank) return true;
  return false;
}

std::vector<int> Servers::serving_ranks() const {
  std::vector<int> ranks;
  for (std::size_t s = 0; s < count_; ++s) ranks.push_back(rank_of(s));
  return ranks;
}

OptionType<std::size_t> partition_kind() {
  OptionType<std::size_t> size = byte_size();
  size.parse = [parse = size.parse](const Json& j, const std::string& pointer) {
    const std::size_t nbytes = parse(j, pointer);
    if (nbytes < size_of(DType::f32)) wrong_type(pointer, "a size of at least 4B, one element", j);
    return nbytes;
  };
  return size;
}

OptionType<Placement> placement_kind() {
  return one_of<Placement>({{"among", Placement::among}, {"beside", Placement::beside}});
}

OptionType<std::int64_t> servers_kind() {
  const OptionType<std::int64_t> number = integer(1);
  return {[number](const Json& j, const std::string& pointer) -> std::int64_t {
            if (!j.is_string()) return number.parse(j, pointer);
            if (j != "all") unknown_name(pointer, "value", j.get<std::string>(), {"all"});
            return 0;
          },
          [](const std::int64_t& servers) -> Json {
            if (servers == 0) return "all";
            return servers;
          },
          [number]() -> Json {
            return {{"anyOf", Json::array({Json{{"const", "all"}}, number.schema()})}};
          }};
}

void check_servers(std::int64_t servers, const Layout& layout, const std::string& pointer,
                   Placement placement) {
  const bool beside = placement == Placement::beside;
  if (beside && layout.ranks() == 1)
    throw ConfigError(pointer + "/placement",
                      "a single rank cannot have servers beside it; expected \"among\"");
  if (beside && (servers == 0 || servers >= layout.ranks()))
    throw ConfigError(
        pointer + "/servers",
        fmt::format(
            "{0} ranks, servers beside the workers: expected from 1 to {1} servers, not {2}",
            layout.ranks(), layout.ranks() - 1, servers_kind().dump(servers).dump()));
  if (servers > layout.ranks())
    throw ConfigError(pointer + "/servers",
                      fmt::format("servers among the workers: expected at most {} servers, not {}",
                                  layout.ranks(), servers));
}

Servers make_servers(std::int64_t servers, int ranks, Placement placement) {
  return {static_cast<std::size_t>(servers == 0 ? ranks : servers), ranks, placement};
}

}  // namespace trigram

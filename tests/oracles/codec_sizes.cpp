#include "tests/oracles/codec_sizes.h"

#include <algorithm>
#include <stdexcept>

namespace trigram::test {

std::size_t codec_wire_bytes(const std::string& name, const nlohmann::json& options,
                             std::size_t numel) {
  if (name == "minmax_uint8") return 32 + (numel + 31) / 32 * 32;
  if (name == "fp16" || name == "bf16") return 2 * numel;
  if (name == "sign") return (options.at("scale") == "means" ? 8 : 4) + (numel + 7) / 8;
  if (name == "qsgd") {
    const std::size_t bucket = options.at("bucket");
    std::size_t bits = 0, bytes = 0;
    while (std::size_t{1} << bits < 2 * options.at("levels").get<std::size_t>() + 1) ++bits;
    for (std::size_t left = numel; left > 0; left -= std::min(left, bucket)) {
      bytes += 4 + (std::min(left, bucket) * bits + 7) / 8;
    }
    return bytes;
  }
  if (name == "topk" || name == "randk") {
    const double exact = options.at("density").get<double>() * static_cast<double>(numel);
    auto k = static_cast<std::size_t>(exact);
    if (exact > static_cast<double>(k)) ++k;
    return name == "topk" ? 8 * k : 8 + 4 * k;
  }
  if (name == "powersgd") {
    // The fewest rows and columns that hold the vector.
    std::size_t sum = 0;
    while (sum / 2 * ((sum + 1) / 2) < numel) ++sum;
    return 4 * std::min(numel, options.at("rank").get<std::size_t>() * sum);
  }
  throw std::invalid_argument("no wire format is stated for " + name);
}

}  // namespace trigram::test

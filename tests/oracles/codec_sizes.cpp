#include "tests/oracles/codec_sizes.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace trigram::test {

std::size_t codec_wire_bytes(const std::string& name, const nlohmann::json& options,
                             std::size_t numel) {
  if (name == "minmax_uint8") return 32 + (numel + 31) / 32 * 32;
  if (name == "fp16" || name == "bf16") return 2 * numel;
  if (name == "e3m0" || name.starts_with("int") || name.starts_with("fp8")) {
    const std::size_t block = options.at("block"), blocks = (numel + block - 1) / block;
    const std::size_t bits = name.starts_with("fp8") ? 8 : name == "int2" ? 2 : 4;
    return (name == "e3m0" ? 1 : 4) * blocks + (bits * numel + 7) / 8;
  }
  if (name == "chunk_topk" || name == "dct_topk") {
    const std::size_t keep = options.at("keep");
    std::size_t bytes = 0;
    for (std::size_t left = numel; left > 0; left -= std::min<std::size_t>(left, 4096)) {
      const double share = static_cast<double>(std::min<std::size_t>(left, 4096)) / 4096;
      const double kept = std::ceil(share * static_cast<double>(keep));
      bytes += name == "dct_topk" ? 7 * static_cast<std::size_t>(std::ceil(kept / 2))
                                  : 8 + 7 * static_cast<std::size_t>(std::ceil(kept / 4));
    }
    return bytes;
  }
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
    // The smallest numbers of rows and columns that hold the vector.
    std::size_t sum = 0;
    while (sum / 2 * ((sum + 1) / 2) < numel) ++sum;
    return 4 * std::min(numel, options.at("rank").get<std::size_t>() * sum);
  }
  throw std::invalid_argument("no wire format is stated for " + name);
}

namespace {

// The bounds in bits on the sizes of the dense and the sparse form of Elias codes, term by term.
double dense_bits(double s, double n) {
  const double zeros_and_ones = n, lengths = n * std::log2(std::pow(1 + s / std::sqrt(n), 2));
  return zeros_and_ones + lengths + std::min(n, s * std::sqrt(n));
}

double sparse_bits(double s, double n) {
  const double k = std::min(n, s * std::sqrt(n)), large = std::min(n, s * s / std::exp(1.0));
  return std::log2(2 * std::pow(k + 1, 2)) + k * std::log2(8 * std::pow(n / k, 2)) +
         large * std::log2(s * s / large);
}

}  // namespace

bool codec_counts_dense(int s, std::size_t n) {
  const auto levels = static_cast<double>(s), numel = static_cast<double>(n);
  return dense_bits(levels, numel) < sparse_bits(levels, numel);
}

std::size_t codec_priced_bytes(const std::string& name, const nlohmann::json& options,
                               std::size_t numel) {
  if (name != "qsgd" || options.at("norm") != "l2" || options.at("coding") != "elias")
    return codec_wire_bytes(name, options, numel);
  const double s = options.at("levels");
  const std::size_t bucket = options.at("bucket");
  std::size_t bytes = 0;
  for (std::size_t left = numel; left > 0; left -= std::min(left, bucket)) {
    const auto n = static_cast<double>(std::min(left, bucket));
    bytes +=
        4 + static_cast<std::size_t>(std::ceil(std::min(dense_bits(s, n), sparse_bits(s, n)) / 8));
  }
  return bytes;
}

}  // namespace trigram::test

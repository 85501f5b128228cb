#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace trigram::test {

/// Bytes on the wire of `numel` elements, from the stated wire formats. Shares nothing with core/.
/// `options` are complete.
std::size_t codec_wire_bytes(const std::string& name, const nlohmann::json& options,
                             std::size_t numel);

/// What these count as: less where qsgd's `coding` is "elias".
std::size_t codec_priced_bytes(const std::string& name, const nlohmann::json& options,
                               std::size_t numel);

/// Whether the smaller of the bounds on Elias codes of `n` elements of `s` levels is that of the
/// form that writes every element.
bool codec_counts_dense(int s, std::size_t n);

}  // namespace trigram::test

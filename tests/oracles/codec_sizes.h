#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace trigram::test {

/// The wire bytes of `numel` elements, from the stated wire formats. Shares no code with core/.
/// `options` must be complete.
std::size_t codec_wire_bytes(const std::string& name, const nlohmann::json& options,
                             std::size_t numel);

/// The priced bytes of that wire. They are fewer if qsgd's `coding` is "elias".
std::size_t codec_priced_bytes(const std::string& name, const nlohmann::json& options,
                               std::size_t numel);

/// True if, for Elias codes of `n` elements with `s` levels, the form that writes every element has
/// the smaller bound.
bool codec_counts_dense(int s, std::size_t n);

}  // namespace trigram::test

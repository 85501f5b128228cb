#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace trigram::test {

/// The wire bytes of `numel` elements, from the stated wire formats. Shares no code with core/.
/// `options` must be complete.
std::size_t codec_wire_bytes(const std::string& name, const nlohmann::json& options,
                             std::size_t numel);

/// The priced bytes of these elements. They differ from the wire bytes if qsgd's `coding` is
/// "elias", because the wire itself is not Elias-coded.
std::size_t codec_priced_bytes(const std::string& name, const nlohmann::json& options,
                               std::size_t numel);

/// True if, for Elias codes of `n` elements with `s` levels, the dense form (which encodes every
/// element) has a smaller bound on its size than the sparse form.
bool codec_counts_dense(int s, std::size_t n);

}  // namespace trigram::test

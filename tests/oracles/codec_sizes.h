#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace trigram::test {

/// Bytes on the wire of `numel` elements, from the stated wire formats. Shares nothing with core/.
/// `options` are complete.
std::size_t codec_wire_bytes(const std::string& name, const nlohmann::json& options,
                             std::size_t numel);

}  // namespace trigram::test

#pragma once

#include <cstdint>
#include <vector>

namespace trigram::test {

/// MinMaxUInt8, element by element, by the formulas of BAGUA's bagua_kernels.cu and with the clamp
/// to 0..255. It is for finite values whose range does not overflow. It shares no code with core/.
std::vector<std::uint8_t> minmax_uint8_encode(const std::vector<float>& x);
std::vector<float> minmax_uint8_decode(const std::vector<std::uint8_t>& wire, std::size_t numel);

}  // namespace trigram::test

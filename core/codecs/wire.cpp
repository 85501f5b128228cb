#include "core/codecs/wire.h"

#include "core/check.h"

namespace trigram {

void check_wire(const Codec& codec, const Tensor& wire, const Tensor& x) {
  TRIGRAM_CHECK(!wire.is_phantom() && !x.is_phantom(), "a phantom has no values to code");
  TRIGRAM_CHECK(x.dtype() == DType::f32 && wire.dtype() == DType::u8, "f32 is coded as u8");
  TRIGRAM_CHECK(wire.numel() == codec.wire_bytes(x.numel()), "{} elements on a wire of {} bytes",
                x.numel(), wire.numel());
}

}  // namespace trigram

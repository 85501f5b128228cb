#pragma once

#include "core/codecs/registry.h"
#include "tests/oracles/codec_sizes.h"
#include "tests/oracles/volume.h"

namespace trigram::test {

/// The priced bytes of a vector's code, from the oracle. `codec` is "name" or {"name": ...,
/// options}.
inline CodeBytes code_bytes(const Json& codec) {
  const Json resolved = resolve_component(codecs(), "codec", codec, "/codec");
  return [name = resolved.at("name").get<std::string>(), resolved](std::uint64_t n) {
    return std::uint64_t{codec_priced_bytes(name, resolved, n)};
  };
}

/// One codec of each kind, with options for which its formula differs from the other formulas.
inline std::vector<Json> codes_of_every_size() {
  return {"minmax_uint8",
          "bf16",
          "sign",
          {{"name", "sign"}, {"scale", "means"}},
          {{"name", "qsgd"}, {"levels", 7}, {"bucket", 100}},
          {{"name", "qsgd"}, {"levels", 7}, {"bucket", 100}, {"coding", "elias"}},
          {{"name", "topk"}, {"density", 0.1}},
          {{"name", "randk"}, {"density", 0.1}, {"unbiased", false}},
          {{"name", "powersgd"}, {"rank", 2}}};
}

}  // namespace trigram::test

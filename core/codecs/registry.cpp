#include "core/codecs/registry.h"

#include "core/codecs/entries.h"

namespace trigram {

const std::vector<CodecEntry>& codecs() {
  static const std::vector<CodecEntry> entries = {
      minmax_uint8_entry(),
  };
  return entries;
}

std::unique_ptr<Codec> make_host_codec(const CodecSpec& spec, const CodecKey& key) {
  const CodecEntry& entry = find_component(codecs(), "codec", Json(spec.name), "/codec");
  return entry.make(entry.resolve(spec.options, "/codec"), key);
}

Kind<CodecSpec> codec_kind() {
  return {[](const Json& j, const std::string& pointer) {
            const Json resolved = resolve_component(codecs(), "codec", j, pointer);
            return CodecSpec{component_name(resolved, pointer), component_options(resolved)};
          },
          [](const CodecSpec& spec) -> Json {
            const CodecEntry& entry = find_component(codecs(), "codec", Json(spec.name), "/codec");
            Json j = entry.resolve(spec.options, "/codec");
            if (j.empty()) return spec.name;
            j["name"] = spec.name;
            return j;
          },
          schema_of_components(codecs())};
}

}  // namespace trigram

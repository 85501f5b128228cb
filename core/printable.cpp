#include "core/printable.h"

#include <fmt/format.h>

#include <cstdint>

namespace trigram {
namespace {

/// A code point and its length in bytes; 0 bytes if the text does not begin with valid UTF-8.
struct Decoded {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};

std::size_t length_after(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

Decoded decode(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t bytes = length_after(first);
  if (bytes == 0 || bytes > text.size()) return {};
  std::uint32_t code = bytes == 1 ? first : first & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return {};
    code = code << 6 | (next & 0x3Fu);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return code < kLeast[bytes] || surrogate || code > 0x10FFFF ? Decoded{} : Decoded{code, bytes};
}

bool moves_the_cursor(std::uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
  const bool separator = code == 0x2028 || code == 0x2029;
  const bool direction = (code >= 0x200E && code <= 0x200F) || (code >= 0x202A && code <= 0x202E) ||
                         (code >= 0x2066 && code <= 0x2069);
  return control || separator || direction;
}

std::string escaped(std::uint32_t code) {
  switch (code) {
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: return fmt::format("\\u{:04x}", code);
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Decoded next = decode(text);
    if (next.bytes == 0) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    if (moves_the_cursor(next.code)) shown += escaped(next.code);
    else shown += text.substr(0, next.bytes);
    text.remove_prefix(next.bytes);
  }
  return shown;
}

}  // namespace trigram

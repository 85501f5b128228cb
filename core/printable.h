#pragma once

#include <string>
#include <string_view>

namespace trigram {

/// Returns `text` as one line that cannot control a terminal: control characters, line breaks and
/// text-direction marks are escaped as in JSON (such as "\u001b"); bytes that are not UTF-8 are
/// escaped as "\xff". Use it for all text that comes from an input and is printed.
std::string printable(std::string_view text);

}  // namespace trigram

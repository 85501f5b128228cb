#include "experiments/text/print_error.h"

#include <algorithm>
#include <cstdio>

namespace trigram {

void print_error(const std::string& text) noexcept {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::fputs("trigram: ", stderr);
    std::fwrite(text.data() + begin, 1, end - begin, stderr);
    std::fputc('\n', stderr);
    begin = end + 1;
  }
}

}  // namespace trigram

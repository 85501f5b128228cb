#include "experiments/serve/access.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace trigram {

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::system_error(errno, std::generic_category(), "getrandom");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

bool equal_secrets(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string cookie(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const std::string_view pair = header.substr(0, header.find(';'));
    header.remove_prefix(std::min(pair.size() + 1, header.size()));
    const std::string_view trimmed =
        pair.substr(std::min(pair.find_first_not_of(' '), pair.size()));
    if (trimmed.size() > name.size() && trimmed.starts_with(name) && trimmed[name.size()] == '=')
      return std::string(trimmed.substr(name.size() + 1));
  }
  return {};
}

bool is_loopback_host(std::string_view host) {
  for (const std::string_view name : {"localhost", "127.0.0.1", "[::1]"}) {
    if (!host.starts_with(name)) continue;
    const std::string_view rest = host.substr(name.size());
    if (rest.empty()) return true;
    if (rest.front() == ':' && rest.find_first_not_of("0123456789", 1) == std::string_view::npos)
      return true;
  }
  return false;
}

bool is_loopback_address(std::string_view address) {
  return address == "localhost" || address == "::1" || address == "127.0.0.1";
}

bool is_sweep_name(std::string_view name) {
  return !name.empty() && name.size() <= 200 && name.front() != '.' &&
         std::ranges::none_of(name, [](char c) {
           return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
         });
}

}  // namespace trigram

#pragma once

#include <string>
#include <string_view>

namespace trigram {

/// A random token of 32 hexadecimal digits. Throws std::system_error without a source of random
/// numbers.
std::string random_token();

/// True if both texts are equal. The time does not depend on where they differ.
bool equal_secrets(std::string_view a, std::string_view b);

/// The value of a cookie in the header `Cookie`; empty if it is absent.
std::string cookie(std::string_view header, std::string_view name);

/// True if the header `Host` of a request names this machine's loopback interface: localhost,
/// 127.0.0.1 or [::1], with or without a port. A page of another site that makes its own name
/// resolve to 127.0.0.1 (DNS rebinding) sends that name instead.
bool is_loopback_host(std::string_view host);

/// True for an address of the loopback interface, as a user writes it.
bool is_loopback_address(std::string_view address);

/// True if `name` can be the name of a sweep: it is the name of one folder, neither hidden nor a
/// path, of at most 200 bytes and without control characters.
bool is_sweep_name(std::string_view name);

}  // namespace trigram

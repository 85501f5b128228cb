#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace trigram {

/// SHA-256 (FIPS 180-4, by OpenSSL) of what is fed to it.
class Sha256 {
 public:
  Sha256();
  Sha256& update(std::span<const std::byte> bytes);
  Sha256& update(std::string_view text) { return update(std::as_bytes(std::span(text))); }
  /// The digest as 64 hexadecimal digits; ends the feeding.
  std::string hex();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
};

/// Of the file's content. Throws std::runtime_error when it cannot be read.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace trigram

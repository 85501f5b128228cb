#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace trigram {

/// Incremental SHA-256 (FIPS 180-4, by OpenSSL).
class Sha256 {
 public:
  Sha256();
  Sha256& update(std::span<const std::byte> bytes);
  Sha256& update(std::string_view text) { return update(std::as_bytes(std::span(text))); }
  /// The digest as 64 hexadecimal digits. Nothing may be added after this call.
  std::string hex();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
};

/// The digest of the file's content. Throws std::runtime_error if the file cannot be read.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace trigram

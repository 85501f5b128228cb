#include "experiments/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "core/check.h"

namespace trigram {
namespace {

EVP_MD_CTX* handle(void* context) { return static_cast<EVP_MD_CTX*>(context); }

}  // namespace

void Sha256::Free::operator()(void* context) const { EVP_MD_CTX_free(handle(context)); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  TRIGRAM_CHECK(EVP_DigestInit_ex(handle(context_.get()), EVP_sha256(), nullptr) == 1,
                "OpenSSL has no SHA-256");
}

Sha256& Sha256::update(std::span<const std::byte> bytes) {
  TRIGRAM_CHECK(EVP_DigestUpdate(handle(context_.get()), bytes.data(), bytes.size()) == 1,
                "OpenSSL refused {} bytes", bytes.size());
  return *this;
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  TRIGRAM_CHECK(EVP_DigestFinal_ex(handle(context_.get()), digest.data(), &size) == 1,
                "OpenSSL gave no digest");
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string sha256_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (std::error_code ignored; !file || !std::filesystem::is_regular_file(path, ignored))
    throw std::runtime_error("cannot read " + path.string());
  Sha256 hash;
  std::vector<char> block(1 << 20);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0)
    hash.update(std::string_view(block.data(), static_cast<std::size_t>(file.gcount())));
  return hash.hex();
}

}  // namespace trigram

#include "experiments/checkpoint/saved_state.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "experiments/sha256.h"

namespace trigram {
namespace {

constexpr std::string_view kMagic = "TRIGCKPT";
constexpr std::size_t kChecksumLength = 64;  // hexadecimal digits

[[noreturn]] void fail(const std::string& why) { throw std::runtime_error(why); }

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// An uninitialised tensor with the values of an entry.
Tensor tensor_of(const SavedState::Entry& entry, Device& device) {
  if (entry.bytes.empty() && entry.numel > 0)
    return Tensor::phantom(entry.numel, entry.dtype, entry.priced_numel);
  const Tensor x = device.empty(entry.numel, entry.dtype, entry.priced_numel);
  if (!entry.bytes.empty()) device.upload(x, bytes_of(entry.bytes));
  return x;
}

}  // namespace

const SavedState::Entry& SavedState::at(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) fail(fmt::format("lacks \"{}\"", name));
  return found->second;
}

double SavedState::priced_bytes() const {
  double sum = 0;
  for (const auto& [name, entry] : entries_) {
    if (name.starts_with(kRecords)) continue;
    sum += static_cast<double>(entry.is_tensor ? entry.priced_numel * size_of(entry.dtype)
                                               : entry.bytes.size());
  }
  return sum;
}

std::string SavedState::to_file() const {
  Json header = {{"format", kCheckpointFormat}, {"entries", Json::array()}};
  std::size_t payload = 0;
  for (const auto& [name, entry] : entries_) {
    header["entries"].push_back({{"name", name},
                                 {"tensor", entry.is_tensor},
                                 {"dtype", static_cast<int>(entry.dtype)},
                                 {"numel", entry.numel},
                                 {"priced_numel", entry.priced_numel},
                                 {"offset", payload},
                                 {"bytes", entry.bytes.size()}});
    payload += entry.bytes.size();
  }
  const std::string text = header.dump();
  const std::uint64_t length = text.size();
  std::string file(kMagic);
  file.reserve(kMagic.size() + sizeof length + text.size() + payload + kChecksumLength);
  file.append(reinterpret_cast<const char*>(&length), sizeof length);
  file += text;
  for (const auto& [name, entry] : entries_) file += entry.bytes;
  return file += Sha256().update(std::string_view(file)).hex();
}

std::string_view SavedState::checksum_of(std::string_view content) {
  return content.size() < kChecksumLength ? "" : content.substr(content.size() - kChecksumLength);
}

SavedState SavedState::from_file(std::string_view content) {
  std::uint64_t length = 0;
  if (content.size() < kMagic.size() + sizeof length + kChecksumLength) fail("is too short");
  if (!content.starts_with(kMagic)) fail("is no checkpoint");
  const std::string_view checked = content.substr(0, content.size() - kChecksumLength);
  if (Sha256().update(checked).hex() != checksum_of(content)) fail("differs from its checksum");
  std::memcpy(&length, content.data() + kMagic.size(), sizeof length);
  const std::string_view rest = checked.substr(kMagic.size() + sizeof length);
  const Json header = Json::parse(rest.substr(0, length));
  if (header.at("format") != kCheckpointFormat)
    fail(fmt::format("has format {}, this program's is {}", header.at("format").dump(),
                     kCheckpointFormat));
  SavedState state;
  for (const Json& j : header.at("entries"))
    state[j.at("name")] = {
        .is_tensor = j.at("tensor"),
        .dtype = static_cast<DType>(j.at("dtype").get<int>()),
        .numel = j.at("numel"),
        .priced_numel = j.at("priced_numel"),
        .bytes = std::string(rest.substr(length + j.at("offset").get<std::size_t>(),
                                         j.at("bytes").get<std::size_t>()))};
  return state;
}

void StateSaver::tensor(const std::string& name, Tensor& x) {
  const auto values = device_.download<char>(x);
  to_[prefix_ + name] = {true, x.dtype(), x.numel(), x.priced_numel(),
                         std::string(values.begin(), values.end())};
}

void StateSaver::bytes(const std::string& name, std::span<std::byte> value) {
  to_[prefix_ + name].bytes.assign(reinterpret_cast<const char*>(value.data()), value.size());
}

void StateRestorer::tensor(const std::string& name, Tensor& x) {
  const SavedState::Entry& entry = from_.at(prefix_ + name);
  if (!entry.is_tensor || entry.numel != x.numel() || entry.dtype != x.dtype())
    fail(fmt::format("has {} elements of \"{}\", not {}", entry.numel, prefix_ + name, x.numel()));
  if (!x.is_phantom() && !entry.bytes.empty()) device_.upload(x, bytes_of(entry.bytes));
}

void StateRestorer::bytes(const std::string& name, std::span<std::byte> value) {
  const SavedState::Entry& entry = from_.at(prefix_ + name);
  if (entry.is_tensor || entry.bytes.size() != value.size())
    fail(fmt::format("has {} bytes of \"{}\", not {}", entry.bytes.size(), prefix_ + name,
                     value.size()));
  std::memcpy(value.data(), entry.bytes.data(), value.size());
}

void StateRestorer::put_all(const TrainingState& state) const {
  for (const auto& [path, entry] : from_.entries()) {
    if (!path.starts_with(prefix_)) continue;
    const std::string name = path.substr(prefix_.size());
    if (entry.is_tensor) {
      state.put(name, tensor_of(entry, device_));
    } else {
      const auto bytes = bytes_of(entry.bytes);
      state.put(name, std::vector<std::byte>(bytes.begin(), bytes.end()));
    }
  }
}

}  // namespace trigram

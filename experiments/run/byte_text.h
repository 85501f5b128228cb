#pragma once

#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

namespace trigram {

/// Appends values to a text, byte by byte as they are in memory.
class ByteWriter {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  /// Writes a list: a string or a vector.
  template <class List>
  void put_list(const List& list) {
    static_assert(std::is_trivially_copyable_v<typename List::value_type>);
    put(list.size());
    bytes_.append(reinterpret_cast<const char*>(list.data()),
                  list.size() * sizeof(typename List::value_type));
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Takes values from such a text, in the same order.
class ByteReader {
 public:
  explicit ByteReader(const std::string& bytes) : bytes_(bytes) {}
  template <class T>
  T get() {
    T value;
    copy(&value, sizeof value);
    return value;
  }
  template <class List>
  List get_list() {
    List list;
    list.resize(get<std::size_t>());
    copy(list.data(), list.size() * sizeof(typename List::value_type));
    return list;
  }

 private:
  void copy(void* to, std::size_t length) {
    std::memcpy(to, bytes_.data() + at_, length);
    at_ += length;
  }
  const std::string& bytes_;
  std::size_t at_ = 0;
};

}  // namespace trigram

#include "tests/support/training.h"

#include <cstring>
#include <type_traits>

namespace trigram::test {
namespace {

/// Writes plain values, texts, events and lists. The Reader reads them in the same order.
class Writer {
 public:
  template <class T>
  void operator()(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void operator()(const std::string& text) {
    (*this)(text.size());
    bytes_ += text;
  }
  void operator()(const Event& e) {
    (*this)(e.kind), (*this)(e.rank), (*this)(e.stream), (*this)(e.begin_s), (*this)(e.end_s);
    (*this)(e.peer), (*this)(e.bytes), (*this)(e.batch);
  }
  template <class T>
  void operator()(const std::vector<T>& values) {
    (*this)(values.size());
    for (const T& value : values) (*this)(value);
  }
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}

  template <class T>
  void operator()(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
  }
  void operator()(std::string& text) {
    std::size_t size = 0;
    (*this)(size);
    text = bytes_.substr(at_, size);
    at_ += size;
  }
  void operator()(Event& e) {
    (*this)(e.kind), (*this)(e.rank), (*this)(e.stream), (*this)(e.begin_s), (*this)(e.end_s);
    (*this)(e.peer), (*this)(e.bytes), (*this)(e.batch);
  }
  template <class T>
  void operator()(std::vector<T>& values) {
    std::size_t size = 0;
    (*this)(size);
    values.resize(size);
    for (T& value : values) (*this)(value);
  }

 private:
  const std::string& bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::string to_bytes(const Trained& t) {
  Writer write;
  write(t.ended_s), write(t.counters), write(t.events), write(t.weights), write(t.buckets);
  write(t.notes), write(t.cpu_s), write(t.max_rss_kib);
  return std::move(write.bytes_);
}

Trained trained_from_bytes(const std::string& bytes) {
  Trained t;
  Reader read(bytes);
  read(t.ended_s), read(t.counters), read(t.events), read(t.weights), read(t.buckets);
  read(t.notes), read(t.cpu_s), read(t.max_rss_kib);
  return t;
}

}  // namespace trigram::test

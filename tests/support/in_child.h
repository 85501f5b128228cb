#pragma once

#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace trigram::test {

constexpr std::chrono::seconds kChildTimeout{60};

/// A forked child process that runs `body`. Tests need it for code that can run only once per
/// process, such as a simulation, whose platform cannot be destroyed.
class Child {
 public:
  explicit Child(const std::function<std::string()>& body);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Waits for the child and returns the result of `body`; empty if the child failed before.
  ///
  /// Failed expectations, failed assertions, skips and uncaught exceptions of the child become
  /// failures and skips of the calling test; failures keep their file and line. The calling test
  /// also fails if the child crashes, exits before `body` returns, or runs for longer than
  /// `timeout`, after which it is killed.
  std::string finish(std::chrono::milliseconds timeout = kChildTimeout);

 private:
  int process_ = -1;
  int pipe_ = -1;
};

/// Runs `body` in a child process; see Child::finish.
void in_child(const std::function<void()>& body, std::chrono::milliseconds timeout = kChildTimeout);

/// Runs `body` in a child process and returns the bytes that `body` returned.
std::string bytes_from_child(const std::function<std::string()>& body,
                             std::chrono::milliseconds timeout = kChildTimeout);

/// Runs `body` in a child process and returns its list of plain values, such as simulated times.
template <class T>
std::vector<T> values_from_child(const std::function<std::vector<T>()>& body,
                                 std::chrono::milliseconds timeout = kChildTimeout) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::string bytes = bytes_from_child(
      [&body] {
        const std::vector<T> values = body();
        return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
      },
      timeout);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace trigram::test

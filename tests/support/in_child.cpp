#include "tests/support/in_child.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace trigram::test {
namespace {

using testing::TestPartResult;

/// The kinds of records in the pipe. A record is a kind, a source line, and two texts.
enum class Record : std::uint32_t { non_fatal, fatal, skip, result };

struct Header {
  Record record;
  std::int32_t line;
  std::uint64_t file_bytes, text_bytes;
};

void write_all(int fd, const void* data, std::size_t nbytes) {
  auto* at = static_cast<const char*>(data);
  while (nbytes > 0) {
    const ssize_t n = ::write(fd, at, nbytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) std::_Exit(3);  // the parent is gone
    at += n;
    nbytes -= static_cast<std::size_t>(n);
  }
}

void write_record(int fd, Record record, int line, const std::string& file,
                  const std::string& text) {
  const Header header{record, line, file.size(), text.size()};
  write_all(fd, &header, sizeof header);
  write_all(fd, file.data(), file.size());
  write_all(fd, text.data(), text.size());
}

/// Sends the outcome of each expectation to the parent instead of printing it.
class Forwarder final : public testing::EmptyTestEventListener {
 public:
  explicit Forwarder(int fd) : fd_(fd) {}
  void OnTestPartResult(const TestPartResult& part) override {
    if (part.passed()) return;
    const Record record = part.skipped()          ? Record::skip
                          : part.fatally_failed() ? Record::fatal
                                                  : Record::non_fatal;
    write_record(fd_, record, part.line_number(), part.file_name() ? part.file_name() : "",
                 part.message());
  }

 private:
  int fd_;
};

[[noreturn]] void run_child(int fd, const std::function<std::string()>& body) {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new Forwarder(fd));
  std::string error;
  try {
    write_record(fd, Record::result, 0, "", body());
  } catch (const std::exception& e) {
    error = fmt::format("exception in the child process: {}", e.what());
  } catch (...) {
    error = "unknown exception in the child process";
  }
  if (!error.empty()) write_record(fd, Record::fatal, 0, "", error);
  std::fflush(nullptr);
  std::_Exit(0);  // runs no destructors of static objects, because these belong to the parent
}

/// Reads until the child closes its end; returns false if `timeout` passes first.
bool read_all(int fd, std::chrono::milliseconds timeout, std::string& out) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  char buffer[1 << 16];
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd ready{fd, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(left.count())) <= 0) continue;
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n == 0) return true;
    if (n > 0) out.append(buffer, static_cast<std::size_t>(n));
  }
}

/// Repeats the child's records in this process. If there is a result, sets `result` and returns
/// true.
bool replay(std::string_view bytes, std::string& result) {
  bool complete = false;
  while (bytes.size() >= sizeof(Header)) {
    Header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    bytes.remove_prefix(sizeof header);
    if (bytes.size() < header.file_bytes + header.text_bytes) break;
    const std::string file(bytes.substr(0, header.file_bytes));
    const std::string text(bytes.substr(header.file_bytes, header.text_bytes));
    bytes.remove_prefix(header.file_bytes + header.text_bytes);
    switch (header.record) {
      case Record::result:
        result = text;
        complete = true;
        break;
      case Record::skip:
        [&] { GTEST_SKIP_(text.c_str()); }();
        complete = true;
        break;
      case Record::fatal: complete = true; [[fallthrough]];
      case Record::non_fatal: ADD_FAILURE_AT(file.c_str(), header.line) << text;
    }
  }
  return complete;
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) return fmt::format("died of signal {}", WTERMSIG(status));
  return fmt::format("exited with code {} before it was done", WEXITSTATUS(status));
}

}  // namespace

Child::Child(const std::function<std::string()>& body) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  std::fflush(nullptr);
  process_ = ::fork();
  if (process_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (process_ == 0) {
    ::close(ends[0]);
    run_child(ends[1], body);
  }
  ::close(ends[1]);
  pipe_ = ends[0];
}

std::string Child::finish(std::chrono::milliseconds timeout) {
  std::string bytes, result;
  const bool in_time = read_all(pipe_, timeout, bytes);
  ::close(pipe_);
  if (!in_time) ::kill(process_, SIGKILL);
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  const bool complete = replay(bytes, result);
  if (!in_time)
    ADD_FAILURE() << fmt::format("the child process was killed after {} ms", timeout.count());
  else if (!complete || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    ADD_FAILURE() << "the child process " << describe(status);
  return result;
}

std::string bytes_from_child(const std::function<std::string()>& body,
                             std::chrono::milliseconds timeout) {
  return Child(body).finish(timeout);
}

void in_child(const std::function<void()>& body, std::chrono::milliseconds timeout) {
  bytes_from_child(
      [&body] {
        body();
        return std::string();
      },
      timeout);
}

}  // namespace trigram::test

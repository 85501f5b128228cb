#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "tests/cuda/net/loaded_plugin.h"

namespace trigram::net {

/// A pipe that carries handles and signs between processes.
class Pipe {
 public:
  Pipe() {
    if (pipe(fds_) != 0) throw std::runtime_error("pipe");
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close(fds_[0]);
    close(fds_[1]);
  }
  template <class Value>
  void put(const Value& value) const {
    if (write(fds_[1], &value, sizeof value) != static_cast<ssize_t>(sizeof value))
      throw std::runtime_error("write");
  }
  template <class Value>
  Value get() const {
    Value value;
    if (read(fds_[0], &value, sizeof value) != static_cast<ssize_t>(sizeof value))
      throw std::runtime_error("read");
    return value;
  }

 private:
  int fds_[2];
};

/// A child process. It ends as programs end, so that LeakSanitizer examines it; its exit status is
/// 1 if `body` threw.
class Child {
 public:
  explicit Child(const std::function<void()>& body) : pid_(fork()) {
    if (pid_ != 0) return;
    try {
      body();
      std::exit(testing::Test::HasFailure() ? 1 : 0);
    } catch (const std::exception& error) {
      fprintf(stderr, "child: %s\n", error.what());
      std::exit(1);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (status_) return;
    kill();
    wait();
  }
  void kill() const { ::kill(pid_, SIGKILL); }
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    status_ = status;
    return status;
  }

 private:
  pid_t pid_;
  std::optional<int> status_;
};

/// Runs a test that calls the plugin's init, which reads the environment only the first time in a
/// process.
inline void in_own_process(const std::function<void()>& body) {
  Child child(body);
  EXPECT_EQ(child.wait(), 0);
}

/// Sets the variables that the plugin reads in init.
inline void set_environment(const char* secret = "secret", const char* family = "AF_INET",
                            const char* streams = "4") {
  setenv("TRIGRAM_NET_SECRET", secret, 1);
  setenv("NCCL_SOCKET_IFNAME", "=lo", 1);
  setenv("NCCL_SOCKET_FAMILY", family, 1);
  setenv("TRIGRAM_NET_STREAMS", streams, 1);
  setenv("TRIGRAM_NET_TIMEOUT", "3", 1);
}

}  // namespace trigram::net

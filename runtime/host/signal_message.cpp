#include "runtime/host/signal_message.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <initializer_list>
#include <mutex>

namespace trigram::signal_message {
namespace {

// The whole output then has less than 4096 bytes, so that one write to a pipe is atomic.
constexpr std::size_t kLongest = 3000;

struct Text {
  std::array<char, kLongest> bytes;
  std::size_t size = 0;
  void assign(std::string_view text) {
    size = std::min(text.size(), bytes.size());
    std::memcpy(bytes.data(), text.data(), size);
  }
  std::string_view view() const { return {bytes.data(), size}; }
};

// Four texts that are used in turn, so that a handler can still read a text for some time after the
// next one is set.
std::array<Text, 4> texts;
std::atomic<unsigned> newest{0};
std::mutex setting;
std::atomic<bool> requested{false};

struct Ending {
  Text process_name, last_line;
  int exit_code = 1;
  int log_file = -1;
};
Ending ending;

void pause_ms(long ms) noexcept {
  const timespec duration{0, ms * 1'000'000};
  nanosleep(&duration, nullptr);
}

const char* name_of(int signal) noexcept {
  switch (signal) {
    case SIGINT: return "SIGINT";
    case SIGHUP: return "SIGHUP";
    default: return "SIGTERM";
  }
}

/// The message to write. Waits 100 ms first, so that streams whose peers have just ended can reach
/// their waits, and then requests an update. If the thread that sets messages is stuck, or is the
/// interrupted thread, no update comes and the previous message is used.
std::string_view latest_message() noexcept {
  pause_ms(100);
  requested.store(true);
  for (int ms = 0; ms < 100 && requested.load(); ms += 5) pause_ms(5);
  return texts[newest.load()].view();
}

void end(int signal) noexcept {
  static std::atomic_flag ends = ATOMIC_FLAG_INIT;
  if (ends.test_and_set()) return;  // another thread is already writing
  std::array<char, 4096> message;
  std::size_t size = 0;
  for (const std::string_view part : {ending.process_name.view(), std::string_view(" is ended by "),
                                      std::string_view(name_of(signal)), std::string_view("\n"),
                                      latest_message(), ending.last_line.view()}) {
    const std::size_t count = std::min(part.size(), message.size() - size);
    std::memcpy(message.data() + size, part.data(), count);
    size += count;
  }
  for (const int file : {STDERR_FILENO, ending.log_file})
    if (file >= 0) static_cast<void>(!write(file, message.data(), size));
  // Once one process of a job has ended, mpirun may kill those that still write.
  pause_ms(300);
  _exit(ending.exit_code);
}

}  // namespace

void set(std::string_view text) {
  std::lock_guard lock(setting);
  const unsigned next = (newest.load() + 1) % texts.size();
  texts[next].assign(std::string(text.substr(0, kLongest - 1)) + "\n");
  newest.store(next);
  requested.store(false);
}

bool update_requested() noexcept { return requested.load(std::memory_order_relaxed); }

void end_on_signals(const std::string& process_name, const std::string& last_line, int exit_code,
                    const std::string& log_path) {
  ending.process_name.assign(process_name);
  ending.last_line.assign(last_line);
  ending.exit_code = exit_code;
  if (!log_path.empty()) ending.log_file = open(log_path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  struct sigaction action {};
  action.sa_handler = end;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaction(signal, &action, nullptr);
}

}  // namespace trigram::signal_message

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

// With the rest below 4096 bytes, so that one write to a pipe is atomic.
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
std::atomic<bool> asked{false};

struct Ending {
  Text who, parting;
  int exit_code = 1;
  int copy = -1;
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

/// The message to write, if possible a fresh one. First waits 100 ms, so that streams whose peers
/// have just ended can reach their waits. The thread that sets messages may be the interrupted one,
/// or may be stuck: then the old message is used.
std::string_view settled() noexcept {
  pause_ms(100);
  asked.store(true);
  for (int ms = 0; ms < 100 && asked.load(); ms += 5) pause_ms(5);
  return texts[newest.load()].view();
}

void end(int signal) noexcept {
  static std::atomic_flag ends = ATOMIC_FLAG_INIT;
  if (ends.test_and_set()) return;  // another thread is already writing
  std::array<char, 4096> message;
  std::size_t size = 0;
  for (const std::string_view part :
       {ending.who.view(), std::string_view(" is ended by "), std::string_view(name_of(signal)),
        std::string_view("\n"), settled(), ending.parting.view()}) {
    const std::size_t room = std::min(part.size(), message.size() - size);
    std::memcpy(message.data() + size, part.data(), room);
    size += room;
  }
  for (const int file : {STDERR_FILENO, ending.copy})
    if (file >= 0) static_cast<void>(!write(file, message.data(), size));
  _exit(ending.exit_code);
}

}  // namespace

void set(std::string_view text) {
  std::lock_guard lock(setting);
  const unsigned next = (newest.load() + 1) % texts.size();
  texts[next].assign(std::string(text.substr(0, kLongest - 1)) + "\n");
  newest.store(next);
  asked.store(false);
}

bool wanted() noexcept { return asked.load(std::memory_order_relaxed); }

void end_on_signals(const std::string& who, const std::string& parting, int exit_code,
                    const std::string& copy) {
  ending.who.assign(who);
  ending.parting.assign(parting);
  ending.exit_code = exit_code;
  if (!copy.empty()) ending.copy = open(copy.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  struct sigaction action {};
  action.sa_handler = end;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaction(signal, &action, nullptr);
}

}  // namespace trigram::signal_message

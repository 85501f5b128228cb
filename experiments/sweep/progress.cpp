#include "experiments/sweep/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/printable.h"

namespace trigram {

std::string format_duration(double seconds) {
  const long s = std::lround(seconds);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  return fmt::format("{} h {} min", s / 3600, s % 3600 / 60);
}

Progress::Progress(std::vector<long> steps, bool quiet)
    : steps_(std::move(steps)), counters_(steps_.size()), quiet_(quiet), printer_(stderr) {}

void Progress::tick() {
  if (quiet_) return;
  constexpr int kWidth = 30;
  const auto total = static_cast<double>(std::accumulate(steps_.begin(), steps_.end(), 0L));
  double made_steps = 0;
  for (std::size_t run = 0; run < steps_.size(); ++run)
    made_steps += static_cast<double>(std::min(counters_[run].load(), steps_[run]));
  const double part = total > 0 ? made_steps / total : 0;
  const int filled = static_cast<int>(part * kWidth);
  printer_.status(fmt::format("[{:#<{}}{:.<{}}] {}/{} runs{}, {:.0f} %, {} left", "", filled, "",
                              kWidth - filled, ended_, steps_.size(), failed_text(), 100 * part,
                              part > 0 ? format_duration(elapsed_s() * (1 - part) / part) : "?"));
}

void Progress::ended(std::size_t run, const std::string& label, const std::string& error,
                     double wall_s) {
  ++ended_;
  counters_[run] = steps_[run];
  if (!error.empty()) ++failed_;
  if (quiet_ && error.empty()) return;
  const std::string first_line = printable(error.substr(0, error.find('\n')));
  printer_.line(
      fmt::format("[{}/{}] {} {}", ended_, steps_.size(), label,
                  error.empty() ? fmt::format("({:.1f} s)", wall_s) : "FAILED: " + first_line));
}

void Progress::finish() {
  clear();
  if (ended_ > 1)
    note(fmt::format("{} runs{} in {}", ended_, failed_text(), format_duration(elapsed_s())));
}

double Progress::elapsed_s() const {
  return std::chrono::duration<double>(Clock::now() - started_).count();
}

std::string Progress::failed_text() const {
  return failed_ > 0 ? fmt::format(" ({} failed)", failed_) : "";
}

void Progress::note(const std::string& line) {
  if (!quiet_) printer_.line(line);
}

}  // namespace trigram

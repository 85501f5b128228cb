#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "experiments/process/shared_counters.h"
#include "experiments/text/line_printer.h"

namespace trigram {

/// Shows the progress of a sweep: a line for each run that has ended and, on a terminal, a bar with
/// the remaining time.
class Progress {
 public:
  /// `steps` is the number of steps of each run. The runs count their own steps in `counter`.
  Progress(std::vector<long> steps, bool quiet);

  std::atomic<long>& counter(std::size_t run) { return counters_[run]; }
  /// Updates the bar.
  void tick();
  void ended(std::size_t run, const std::string& label, const std::string& error, double wall_s);
  void note(const std::string& line);
  void clear() { printer_.clear(); }
  /// Prints how many runs were made and how long they took in total.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  double elapsed_s() const;
  std::string failed_text() const;

  std::vector<long> steps_;
  SharedCounters counters_;
  bool quiet_;
  LinePrinter printer_;
  Clock::time_point started_ = Clock::now();
  std::size_t ended_ = 0, failed_ = 0;
};

/// A duration as text: "12 s", "3 min 20 s", "2 h 5 min".
std::string format_duration(double seconds);

}  // namespace trigram

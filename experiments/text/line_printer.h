#pragma once

#include <cstdio>
#include <string>

namespace trigram {

/// Prints progress: on a terminal, status lines overwrite one another; elsewhere only lasting lines
/// are printed. After ninja's class of this name.
class LinePrinter {
 public:
  explicit LinePrinter(std::FILE* out);
  /// A line that the next one overwrites; nothing when `out` is no terminal.
  void status(const std::string& line);
  /// A line that stays.
  void line(const std::string& line);
  /// Removes the status line.
  void clear();

 private:
  std::FILE* out_;
  bool terminal_;
  bool has_status_ = false;
};

}  // namespace trigram

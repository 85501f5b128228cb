#include "experiments/text/line_printer.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace trigram {
namespace {

std::size_t columns(int fd) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool smart_terminal(std::FILE* out) {
  const char* term = std::getenv("TERM");
  return isatty(fileno(out)) && term && std::strcmp(term, "dumb") != 0;
}

}  // namespace

LinePrinter::LinePrinter(std::FILE* out) : out_(out), terminal_(smart_terminal(out)) {}

void LinePrinter::status(const std::string& line) {
  if (!terminal_) return;
  const std::string fitting = line.substr(0, columns(fileno(out_)) - 1);
  std::fprintf(out_, "\r%s\x1b[K", fitting.c_str());
  std::fflush(out_);
  has_status_ = true;
}

void LinePrinter::line(const std::string& line) {
  clear();
  std::fprintf(out_, "%s\n", line.c_str());
  std::fflush(out_);
}

void LinePrinter::clear() {
  if (has_status_) std::fprintf(out_, "\r\x1b[K");
  has_status_ = false;
}

}  // namespace trigram

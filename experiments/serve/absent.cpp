#include <stdexcept>

#include "experiments/serve/server.h"

namespace trigram {

std::string serve_absent_reason() {
  return "this build has no HTTP server; install libcpp-httplib-dev, then configure again";
}

void serve(const ServeOptions&) { throw std::runtime_error(serve_absent_reason()); }

}  // namespace trigram

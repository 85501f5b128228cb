#include "runtime/sim/caught.h"

#include <simgrid/Exception.hpp>

namespace trigram::sim {

std::exception_ptr caught(const std::function<void()>& body) {
  try {
    body();
  } catch (const simgrid::ForcefulKillException&) {
    throw;
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace trigram::sim

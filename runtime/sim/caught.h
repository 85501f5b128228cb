#pragma once

#include <exception>

namespace trigram::sim {

/// Runs `body` and returns the exception that it threw, or null.
///
/// All actors share the exception state of one thread. If an actor switched to another inside a
/// catch block, or in a destructor during unwinding, it would later find the exceptions of other
/// actors in place of its own. So failures are first caught here, and handled after the catch
/// block.
template <class Body>
std::exception_ptr caught(Body&& body) {
  try {
    body();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace trigram::sim

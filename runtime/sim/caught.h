#pragma once

#include <exception>

namespace trigram::sim {

/// Runs `body` and returns what it threw, or null.
///
/// All actors share the exception state of one thread. An actor that gave way to others inside a
/// catch block, or in a destructor during unwinding, would find their exceptions in place of its
/// own. So failures are first caught here and acted upon afterwards.
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

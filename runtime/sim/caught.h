#pragma once

#include <exception>
#include <functional>

namespace trigram::sim {

/// Runs `body` and returns what it threw, or null. Lets SimGrid's order to die pass.
///
/// All actors share the exception state of one thread. An actor that gave way to others inside a
/// catch block, or in a destructor during unwinding, would find their exceptions in place of its
/// own. So failures are first caught here and acted upon afterwards.
std::exception_ptr caught(const std::function<void()>& body);

}  // namespace trigram::sim

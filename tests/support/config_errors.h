#pragma once

#include <string>

#include "core/config/config_error.h"

namespace trigram::test {

/// The text of the ConfigError that `run` throws, or "no error".
template <class Run>
std::string config_error_text(const Run& run) {
  try {
    run();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace trigram::test

#pragma once

#include <string>

#include "core/config/config_error.h"

namespace trigram {

/// The text of the ConfigError that `call` throws; empty if it throws none.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

}  // namespace trigram

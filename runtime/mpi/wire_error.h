#pragma once

#include <exception>
#include <string>

namespace trigram::mpi {

/// Serializes an exception for other processes. The bytes hold its text, and its type if callers
/// handle that type specially (HangError, InvariantError, std::out_of_range, ConfigError). For a
/// ConfigError only the first mistake and its JSON pointer are kept. Returns "" for a null pointer.
std::string error_to_bytes(const std::exception_ptr& error);
/// Restores the exception. Types that are not listed above become std::runtime_error. Returns null
/// for "".
std::exception_ptr error_from_bytes(const std::string& bytes);

}  // namespace trigram::mpi

#pragma once

#include <exception>
#include <string>

namespace trigram::mpi {

/// An exception as bytes, for other processes: its text, and its type where that is one of those
/// that callers tell apart (HangError, InvariantError, std::out_of_range). "" for null.
std::string error_to_bytes(const std::exception_ptr& error);
/// The same exception again; others become std::runtime_error. Null for "".
std::exception_ptr error_from_bytes(const std::string& bytes);

}  // namespace trigram::mpi

#include "runtime/mpi/wire_error.h"

#include <stdexcept>

#include "core/check.h"
#include "core/config/config_error.h"
#include "core/runtime.h"

namespace trigram::mpi {
namespace {

enum Type : char { hang = 'h', invariant = 'i', out_of_range = 'o', config = 'c', other = 'r' };

}  // namespace

std::string error_to_bytes(const std::exception_ptr& error) {
  if (!error) return "";
  const auto bytes = [](Type type, const std::string& text) { return std::string(1, type) + text; };
  try {
    std::rethrow_exception(error);
  } catch (const HangError& e) {
    return bytes(hang, e.what());
  } catch (const InvariantError& e) {
    return bytes(invariant, e.what());
  } catch (const std::out_of_range& e) {
    return bytes(out_of_range, e.what());
  } catch (const ConfigError& e) {
    return bytes(config, e.pointer() + '\n' + e.mistakes().front().message);
  } catch (const std::exception& e) {
    return bytes(other, e.what());
  } catch (...) {
    return bytes(other, "an exception of an unknown type");
  }
}

std::exception_ptr error_from_bytes(const std::string& bytes) {
  if (bytes.empty()) return nullptr;
  const std::string text = bytes.substr(1);
  switch (bytes[0]) {
    case hang: return std::make_exception_ptr(HangError(text));
    case invariant: return std::make_exception_ptr(InvariantError(text));
    case out_of_range: return std::make_exception_ptr(std::out_of_range(text));
    case config: {
      const std::size_t end = text.find('\n');
      return std::make_exception_ptr(ConfigError(text.substr(0, end), text.substr(end + 1)));
    }
    default: return std::make_exception_ptr(std::runtime_error(text));
  }
}

}  // namespace trigram::mpi

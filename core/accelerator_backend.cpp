#include "core/accelerator_backend.h"

namespace trigram {

std::string Bootstrap::wait(const std::string& key, Waiter& waiter) {
  std::optional<std::string> value = get(key);
  if (!value)
    waiter.await({.kind = Wait::bootstrap, .name = key}, [&] {
      value = get(key);
      return value.has_value();
    });
  return *value;
}

void Bootstrap::fence(const std::string& name, Waiter& waiter) {
  const auto key = [&name](int rank) { return "fence/" + name + "/" + std::to_string(rank); };
  put(key(rank()), "");
  for (int other = 0; other < size(); ++other) wait(key(other), waiter);
}

}  // namespace trigram

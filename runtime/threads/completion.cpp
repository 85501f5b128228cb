#include "runtime/threads/completion.h"

namespace trigram::threads {

bool note_completion(Endpoint& owner, PostedTransfer& half) {
  half.done = true;
  return --owner.outstanding == 0 || owner.withdrawing;
}

void complete(Endpoint& owner, PostedTransfer& half) {
  bool awaited;
  {
    std::lock_guard lock(owner.mutex);
    awaited = note_completion(owner, half);
  }
  if (awaited) owner.wake.notify_one();
}

}  // namespace trigram::threads

#pragma once

namespace trigram {

/// Exit codes of the `trigram` command.
enum ExitCode {
  kOk = 0,
  kRunFailed = 1,
  kBadInput = 2,
  kClaimMissed = 3,
  kWatchdog = 124,
  kInterrupted = 130
};

}  // namespace trigram

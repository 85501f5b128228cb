#pragma once

#include <string>
#include <vector>

#include "core/metering/meter.h"

namespace trigram::test {

/// Checks the order in which ranks issue data operations, given the events that their meters
/// reported (by rank).
///
/// The k-th message that a stream of a rank sends to another rank matches the k-th message that the
/// stream of the same name on that rank receives from it. Both must have the same size. All batches
/// that are connected by messages form one operation. Every rank issues its operations in some
/// order, over all its streams. The union of these orders must have no cycle; otherwise ranks could
/// wait for each other forever.
///
/// Returns a description of the first error (an unmatched message, or the operations of a cycle),
/// or an empty text.
std::string issue_order_error(const std::vector<std::vector<Event>>& events);

}  // namespace trigram::test

#pragma once

#include <string>
#include <vector>

#include "core/metering/meter.h"

namespace trigram::test {

/// Checks the order in which ranks issue data operations, from what their meters reported (by
/// rank).
///
/// The k-th message that a stream of one rank sends to another matches the k-th that the same-named
/// stream there receives from it; both must have the same size. Batches joined by messages are one
/// operation. Every rank issues its operations in some order, over all its streams; the union of
/// these orders must have no cycle, or else ranks could wait for each other for ever.
///
/// Returns what is wrong: an unmatched message, or the operations of a cycle; empty when nothing
/// is.
std::string issue_order_error(const std::vector<std::vector<Event>>& events);

}  // namespace trigram::test

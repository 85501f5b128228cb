#pragma once

#include <string>

#include "experiments/advise/advisor.h"

namespace trigram {

// The sentences of advice as text. Each ends with a newline, or is empty if there is nothing to
// say.

/// Says which candidates are first, and which is the next.
std::string verdict(const Advice& advice, const Contest& contest);
/// Says how many candidates were compared if the user asked for some of them.
std::string selection_text(const Contest& contest);
/// The first candidate that averages gradients in full precision, if its share of computation is
/// known; else null.
const Standing* baseline_of(const Advice& advice, const Contest& contest);
/// Says for how much of a step workers compute, which no network shortens: of the first
/// candidate's, and of the first one's that averages gradients in full precision.
std::string computation_text(const Advice& advice, const Contest& contest);
/// Warns if a leader may be first only because its fast workers do not wait for the slowest worker,
/// and then also says which candidate is first if all workers have the pace of the slowest.
std::string uneven_pace_warnings(const Advice& advice, const Contest& contest);
/// Says whether the answer changes if NICs differ.
std::string unequal_nics_text(const Advice& advice, const Contest& contest);

// Texts that the sentences and the tables share.

std::string candidate_name(const Contest& contest, std::size_t candidate);
/// "12.3 %".
std::string percent(double share);
/// Samples per second of one worker: "0.402", "12.8", "1290".
std::string pace_text(double samples_per_s);
/// Samples per second of the "slowest" or the "fastest" worker.
double worker_pace(const Standing& s, const char* worker);
/// True if the paces of the workers differ much, so that most samples come from workers that do not
/// wait for the others.
bool is_uneven(const Standing& s);

}  // namespace trigram

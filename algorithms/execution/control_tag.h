#pragma once

namespace trigram {

/// The tags of the control messages that algorithms send, so that two parts of an algorithm that
/// use the same stream never take each other's messages. Each tag that numbers rounds has a range
/// of 64. Tags below 0 belong to the program that runs the algorithm.
enum ControlTag : int {
  kActivationTag,  // PartialCollective: activates a version
  kRequestTag,     // pair_requests: asks a partner for an average, or says there are no more
  kGrantTag,       // pair_requests: the answer
  kPairTag,        // PairScheduler
  kGroupTag,       // GroupScheduler
  kClockTag,       // ClockBound: a worker's clock
  kReadyTag,       // FusionBuffer: buckets that are ready, from the rank's own streams
  kFoldTag,        // FusionBuffer's allreduce, within the pairs of a Fold
  kUnfoldTag,      // the same, back
  kTimesTag,       // DropCompute: measured times, to rank 0
  kThresholdTag,   // DropCompute: the threshold, from rank 0
  kNegotiationRound0 = 64,  // FusionBuffer's allreduce: + round
  kAgreementRound0 = 128,   // agree(): + round
};

}  // namespace trigram

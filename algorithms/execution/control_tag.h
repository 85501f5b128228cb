#pragma once

namespace trigram {

/// The tags of the control messages that algorithms send. Because of them, two parts of an
/// algorithm that use the same stream never receive each other's messages. Tags that number rounds
/// have a range of 64 each. Tags below 0 belong to the program that runs the algorithm.
enum ControlTag : int {
  kActivationTag,  // PartialCollective: activates a version
  kRequestTag,     // pair_requests: requests an average, or says that there are no more requests
  kGrantTag,       // pair_requests: the answer
  kPairTag,        // PairScheduler
  kGroupTag,       // GroupScheduler
  kClockTag,       // ClockBound: a worker's clock
  kReadyTag,       // FusionBuffer: number of ready buckets, from the rank's own streams
  kFoldTag,        // FusionBuffer's allreduce: within the pairs of a Fold, to the active rank
  kUnfoldTag,      // FusionBuffer's allreduce: back to the folded rank
  kTimesTag,       // DropCompute: measured times, to rank 0
  kThresholdTag,   // DropCompute: the threshold, from rank 0
  kRoundTag,       // FedAvg: the end of a round, to workers that are in neither this nor the next
  kSamplesTag,     // SampleCounts: samples that a rank begins to process, or that it begins no more
  kSwitchTag,      // stages: the barrier at a switch
  kThroughputTag,  // ThroughputBalancer: a rank's throughput in a step
  kPaceTag,        // LocalSteps: a worker's seconds per step, or that it makes no more steps
  kMembersTag,     // Members: who is there, and who averages with whom
  kNegotiationRound0 = 64,  // FusionBuffer's allreduce: + round
  kAgreementRound0 = 128,   // agree(): + round
};

}  // namespace trigram

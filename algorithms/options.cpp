#include "algorithms/options.h"

namespace trigram {

Kind<AllreduceAlgorithm> allreduce_kind() {
  return one_of<AllreduceAlgorithm>({{"ring", AllreduceAlgorithm::ring},
                                     {"recursive_doubling", AllreduceAlgorithm::recursive_doubling},
                                     {"rabenseifner", AllreduceAlgorithm::rabenseifner}});
}

}  // namespace trigram

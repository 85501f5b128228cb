#include <cstdlib>

#include "runtime/mpi/mpi_runtime.h"

namespace trigram {
namespace {

int number_in(std::initializer_list<const char*> variables, int otherwise) {
  for (const char* name : variables)
    if (const char* value = std::getenv(name)) return std::atoi(value);
  return otherwise;
}

}  // namespace

FieldTable<MpiOptions> mpi_fields() {
  return FieldTable<MpiOptions>{}
      .field("watchdog", &MpiOptions::watchdog_s, quantity(Dimension::duration, true),
             "How long all streams may block without any progress, or a rank be silent, before the "
             "run ends as hung")
      .field("modelled_compute", &MpiOptions::modelled_compute, modelled_compute_kind(),
             "Computation known by its length only, as of a profile: slept, or skipped; auto skips "
             "it where the workload computes real gradients")
      .field("padded", &MpiOptions::padded, boolean(),
             "Whether filler is sent with tensors that are priced larger than their values are, "
             "phantoms included");
}

// Open MPI's variables, those of PMI (MPICH) and of Slurm with PMIx.
MpiProcess mpi_process() {
  return {number_in({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}, 0),
          number_in({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}, 1)};
}

}  // namespace trigram

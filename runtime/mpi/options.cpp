#include <cstdlib>

#include "runtime/mpi/mpi_runtime.h"

namespace trigram {
namespace {

/// The value of the first variable that is set; `fallback` if none is.
int first_number(std::initializer_list<const char*> variables, int fallback) {
  for (const char* name : variables)
    if (const char* value = std::getenv(name)) return std::atoi(value);
  return fallback;
}

}  // namespace

FieldTable<MpiOptions> mpi_job_fields() {
  return FieldTable<MpiOptions>{}
      .field("watchdog", &MpiOptions::watchdog_s, quantity(Dimension::duration, true),
             "How long all streams may block without any progress, or a rank be silent, before the "
             "run ends as hung")
      .field("modelled_compute", &MpiOptions::modelled_compute, modelled_compute_kind(),
             kModelledComputeHelp)
      .field("padded", &MpiOptions::padded, boolean(),
             "Send filler with tensors whose priced size exceeds that of their values, phantoms "
             "included");
}

FieldTable<MpiOptions> mpi_fields() {
  return mpi_job_fields()
      .field("emulated", &MpiOptions::emulated,
             one_of<Emulated>({{"nothing", Emulated::nothing},
                               {"bandwidth", Emulated::bandwidth},
                               {"bandwidth_and_latency", Emulated::bandwidth_and_latency}}),
             "Which properties of the inter-node network the kernel emulates; set only by `trigram "
             "emulate`. With \"bandwidth\" the ranks add the latency themselves")
      .field("sends", &MpiOptions::sends,
             one_of<MpiSends>({{"auto", MpiSends::automatic},
                               {"buffered", MpiSends::buffered},
                               {"synchronous", MpiSends::synchronous}}),
             "When a send completes. buffered: when the message is copied, which needs room in the "
             "buffers of the cluster's transport; synchronous: when it is received; auto: buffered "
             "between nodes, synchronous inside nodes")
      .field("loss", &MpiOptions::loss, number(0, 0.5),
             "Share of packets between nodes that the emulated network drops")
      .only_where([](const MpiOptions& o) { return o.emulated != Emulated::nothing; },
                  "applies only to an emulated network; use `trigram emulate`, or remove it");
}

// Reads the variables of Open MPI, of PMI (MPICH), and of Slurm with PMIx.
MpiProcess mpi_process() {
  const int rank = first_number({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}, 0);
  const int size = first_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}, 1);
  // Variables that are inherited from an enclosing job may contradict each other.
  return {rank < size ? rank : 0, size};
}

}  // namespace trigram

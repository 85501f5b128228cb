#pragma once

#include <sys/types.h>

#include <map>
#include <vector>

namespace trigram {

/// The processes of this program that `launcher`, a process of this machine, has started on this
/// machine, by their ranks. Launchers tell a process its rank in its environment (mpirun:
/// OMPI_COMM_WORLD_RANK, srun: SLURM_PROCID). A process without such a variable has rank 0.
/// `trigram run` outside a job has a child that trains, so that rank 0 may have two processes.
std::map<int, std::vector<pid_t>> local_ranks(pid_t launcher);

}  // namespace trigram

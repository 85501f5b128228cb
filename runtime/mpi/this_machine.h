#pragma once

namespace trigram::mpi {

// What Open MPI does to the machine that a rank is on. Both are called before MPI starts.

/// If the launcher has started all ranks on this machine, they reach each other by shared memory
/// alone: MPI opens no port, which would take connections from any network. Whoever has chosen
/// MPI's transports (OMPI_MCA_btl) is obeyed.
void use_no_network_if_all_ranks_are_here();

/// Removes what Open MPI's jobs of this user have left on this machine when they were killed:
/// shared memory that no process maps, and folders of launchers that are gone. One rank of the
/// machine does so, the others nothing.
void remove_leftovers_of_killed_jobs();

}  // namespace trigram::mpi

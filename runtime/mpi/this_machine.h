#pragma once

namespace trigram::mpi {

// How Open MPI uses the machine of a rank. Call both functions before MPI starts.

/// If the launcher has started all ranks on this machine, makes them communicate only through
/// shared memory. MPI then opens no port; a port would accept connections from any network. Has no
/// effect if the user has chosen MPI's transports (OMPI_MCA_btl).
void use_no_network_if_all_ranks_are_here();

/// Removes the remains of killed Open MPI jobs of this user on this machine: shared memory that no
/// process maps, and folders of launchers that no longer run. Only one rank per machine does this.
void remove_leftovers_of_killed_jobs();

}  // namespace trigram::mpi

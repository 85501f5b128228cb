/* Usage: smpi_allreduce COUNT TIMES. Makes TIMES in-place allreduces of COUNT floats. Rank 0 prints their time in s. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int count = atoi(argv[1]), times = atoi(argv[2]), rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  float* x = calloc(count, sizeof *x);
  double start = MPI_Wtime();
  for (int i = 0; i < times; ++i)
    MPI_Allreduce(MPI_IN_PLACE, x, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%.12g\n", MPI_Wtime() - start);
  free(x);
  MPI_Finalize();
  return 0;
}

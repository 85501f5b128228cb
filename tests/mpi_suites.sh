#!/usr/bin/env bash
# Runs test programs as MPI jobs of RANKS processes, one after the other:
#   mpi_suites.sh WORLD RANKS PROGRAM...
# It runs only the tests of the world (mpi or nccl). A program that runs no test has failed.
set -uo pipefail

if ! command -v mpirun >/dev/null; then
  echo "no mpirun here; install it: apt-get install openmpi-bin"
  exit 77
fi
world=$1 ranks=$2
shift 2
filter='-*nccl*'
limit_s=500  # less than the timeout of CTest, after which no output would be shown
if [[ $world == nccl ]]; then
  filter='*nccl*'
  limit_s=840
fi
set -a
# shellcheck source=scripts/one_machine.env
source "$(dirname "$0")/../scripts/one_machine.env"
set +a
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
# Containers may forbid processes to read the memory of other processes.
export OMPI_MCA_btl_vader_single_copy_mechanism=none
failed=0
for program in "$@"; do
  if ! output=$(timeout "$limit_s" mpirun -n "$ranks" "$program" "--gtest_filter=$filter" --gtest_brief=1 --gtest_color=no 2>&1); then
    echo "== $(basename "$program") with $ranks ranks"
    echo "$output" | head -100
    failed=1
  elif ! grep -q 'PASSED.* [1-9][0-9]* test' <<<"$output"; then
    echo "$(basename "$program"): no test ran with $ranks ranks in the world $world"
    echo "$output" | head -20
    failed=1
  else
    echo "$(basename "$program"): $(grep -m1 PASSED <<<"$output")"
  fi
done
exit "$failed"

#include "experiments/cli/trigram_main.h"
#include "proximal_sgd.h"

int main(int argc, char** argv) {
  return trigram::trigram_main(argc, argv, {proximal_sgd_entry()});
}

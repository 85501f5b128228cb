#include "easgd.h"
#include "experiments/cli/trigram_main.h"

int main(int argc, char** argv) { return trigram::trigram_main(argc, argv, {easgd_entry()}); }

#pragma once

#include "algorithms/registry.h"

trigram::AlgorithmEntry proximal_sgd_entry();

#pragma once

#include "algorithms/registry.h"

trigram::AlgorithmEntry easgd_entry();

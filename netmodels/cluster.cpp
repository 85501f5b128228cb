#include "netmodels/cluster.h"

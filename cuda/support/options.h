#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/config/fields.h"

namespace trigram {

struct CudaOptions {
  std::int64_t ranks_per_gpu = 1;
  double memory_bytes = 0;  // 0: the free memory minus a reserve, shared by the ranks of a GPU
  bool checked = true;
  std::int64_t run_ahead = 4;
  std::map<std::string, std::string> environment;  // NCCL's variables
  bool padded = false;  // copied from MpiOptions::padded, therefore not in cuda_fields()
};
FieldTable<CudaOptions> cuda_fields();

}  // namespace trigram

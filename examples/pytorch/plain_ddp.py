"""One epoch with PyTorch's DistributedDataParallel over gloo: mpirun -n 2 python3 plain_ddp.py"""

import os
import time

import torch
from torch import nn

from fashion import accuracy, epoch_of, images, network

rank, size = int(os.environ.get("OMPI_COMM_WORLD_RANK", 0)), int(os.environ.get("OMPI_COMM_WORLD_SIZE", 1))
os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
os.environ.setdefault("MASTER_PORT", "29511")
torch.distributed.init_process_group("gloo", rank=rank, world_size=size)

torch.set_num_threads(1)
torch.manual_seed(1)
steps = int(os.environ.get("STEPS", 10**9))
x, y = images("train")
model = network()
ddp = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(ddp.parameters(), lr=0.05, momentum=0.9)

began = time.perf_counter()
for step, chosen in enumerate(epoch_of(rank, size, len(x), batch=32, seed=1)[:steps], 1):
    loss = nn.functional.cross_entropy(ddp(x[chosen]), y[chosen])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
seconds = time.perf_counter() - began

if rank == 0:
    print(f"{step} steps, {step / seconds:.1f} steps/s, accuracy {accuracy(model, *images('t10k')):.3f}")
    if "SAVE" in os.environ:
        torch.save(model.state_dict(), os.environ["SAVE"])
torch.distributed.destroy_process_group()

"""The same epoch with an algorithm of Trigram: mpirun -n 2 python3 with_trigram.py bytegrad"""

import os
import sys
import time

import torch
from torch import nn

import trigram.torch
from fashion import accuracy, epoch_of, images, network

algorithm = sys.argv[1] if len(sys.argv) > 1 else "gradient_allreduce"

torch.set_num_threads(1)
torch.manual_seed(1)
steps = int(os.environ.get("STEPS", 10**9))
x, y = images("train")
model = network()
trainer = trigram.torch.Trainer(model, {"name": "sgd", "lr": 0.05, "momentum": 0.9}, algorithm)

began = time.perf_counter()
for step, chosen in enumerate(epoch_of(trainer.rank, trainer.size, len(x), batch=32, seed=1)[:steps], 1):
    loss = nn.functional.cross_entropy(model(x[chosen]), y[chosen])
    trainer.step(loss)
seconds = time.perf_counter() - began

trainer.sync_buffers()
if trainer.rank == 0:
    print(f"{step} steps, {step / seconds:.1f} steps/s, accuracy {accuracy(model, *images('t10k')):.3f}")
    if "SAVE" in os.environ:
        torch.save(model.state_dict(), os.environ["SAVE"])
trainer.close()

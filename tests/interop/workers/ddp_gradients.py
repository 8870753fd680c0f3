"""A DDP program: are the gradients of all ranks those of one process with all the data?

One line of JSON a rank on stdout. With FAIL_RANK in the environment that rank raises.
"""
import json
import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

ROWS = 6  # a rank


def loss(model, rows):
    return model(rows).square().mean()


dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
if str(rank) == os.environ.get("FAIL_RANK"):
    raise ValueError("no such batch: 17")
torch.manual_seed(1)
alone = torch.nn.Linear(5, 3)
together = DistributedDataParallel(torch.nn.Linear(5, 3))
together.module.load_state_dict(alone.state_dict())
data = torch.randn(size * ROWS, 5)
loss(alone, data).backward()
loss(together, data[rank * ROWS:(rank + 1) * ROWS]).backward()
same = all(torch.allclose(one.grad, other.grad, atol=1e-6) for one, other in
           zip(alone.parameters(), together.module.parameters()))
sys.stdout.write(json.dumps({"what": "gradients", "rank": rank, "size": size, "same": same,
                             "threads": torch.get_num_threads()}) + "\n")

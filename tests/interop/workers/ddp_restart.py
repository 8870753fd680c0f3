"""A DDP program as they are: begins at its last checkpoint whenever it is started.

One line of JSON a batch on stdout, until a file says stop. The checkpoint lies beside it.
"""
import json
import os
import sys
import time

import torch
import torch.distributed as dist

CHECKPOINT = os.environ["STOP_FILE"] + ".checkpoint"

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
batch = torch.load(CHECKPOINT) if os.path.exists(CHECKPOINT) else 0
while True:
    time.sleep(0.02)  # what a batch takes
    ones = torch.ones(1)
    dist.all_reduce(ones)
    batch += 1
    if rank == 0:
        torch.save(batch, CHECKPOINT + ".new")
        os.replace(CHECKPOINT + ".new", CHECKPOINT)
    sys.stdout.write(json.dumps({
        "what": "batch", "batch": batch, "rank": rank, "size": size, "pid": os.getpid(),
        "host": os.environ["HOROVOD_HOSTNAME"], "right": ones[0].item() == size,
        "restarts": int(os.environ["TORCHELASTIC_RESTART_COUNT"])}) + "\n")
    sys.stdout.flush()
    stop = torch.tensor([float(os.path.exists(os.environ["STOP_FILE"]))])
    dist.all_reduce(stop)
    if stop[0] > 0:
        break

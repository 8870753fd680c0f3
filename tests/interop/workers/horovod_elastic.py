"""An elastic Horovod program: counts batches over all ranks until a file says stop.

Each line on stdout is one JSON object. A host named in SLOW_HOST reads the FIFO
SLOW_FIFO before it imports anything that takes long: it stands for a host whose
imports do.
"""
import json
import os
import sys
import time

HOST = os.environ["HOROVOD_HOSTNAME"]


def say(what, **more):
    more.update(what=what, host=HOST, pid=os.getpid(), time=time.monotonic())
    sys.stdout.write(json.dumps(more) + "\n")
    sys.stdout.flush()


say("started")
if HOST == os.environ.get("SLOW_HOST"):
    with open(os.environ["SLOW_FIFO"], encoding="ascii") as fifo:
        fifo.read()

import torch  # noqa: E402
import horovod.torch as hvd  # noqa: E402

hvd.init()
say("joined", rank=hvd.rank(), size=hvd.size())


@hvd.elastic.run
def train(state):
    while True:
        time.sleep(0.02)  # what a batch takes
        ones = hvd.allreduce(torch.ones(8), op=hvd.Sum, name="ones")
        state.batch += 1
        say("batch", batch=state.batch, rank=hvd.rank(), size=hvd.size(),
            right=bool((ones == hvd.size()).all()))
        wants_stop = float(os.path.exists(os.environ["STOP_FILE"]))
        if hvd.allreduce(torch.tensor([wants_stop]), op=hvd.Max, name="stop")[0] > 0:
            return
        state.commit()


state = hvd.elastic.TorchState(batch=0)
train(state)
say("done", batch=state.batch)

"""A static Horovod program: adds up over all ranks, and says what it saw."""
import torch
import horovod.torch as hvd

hvd.init()
total = hvd.allreduce(torch.ones(1000) * (hvd.rank() + 1), op=hvd.Sum, name="total")
want = hvd.size() * (hvd.size() + 1) / 2
print(f"rank={hvd.rank()} size={hvd.size()} local={hvd.local_rank()}/{hvd.local_size()} "
      f"cross={hvd.cross_rank()}/{hvd.cross_size()} right={bool((total == want).all())}",
      flush=True)
hvd.shutdown()

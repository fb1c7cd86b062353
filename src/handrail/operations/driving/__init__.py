"""Drives runs in this process or in the background, and reports what happens.

Several processes may act on a run: the terminal that started it, a terminal that answers or resumes it, the server of
a connected agent, the background driver. If two of them drove it at once, a step would be performed twice; if none did,
the run would stop. These rules decide which process it is:

1. The lease of a run is the right to append to its history. It is a kernel lock that one process holds and that ends
   with this process, however it ends. So two processes never drive the same run, and a crash leaves nothing locked.
2. A process that attends to a root run (`RunClaim`) holds a second lease for it, even while the run only waits. The
   background driver leaves such a run and all its child runs alone, so that an answer typed at a terminal takes
   effect there. `handrail run` attends to a new run and takes its lease before its first event is recorded.
3. The background driver drives every other run that can move. There is one per data folder, it is started on demand
   (`background_driver.ensure`), and it ends when nothing is left to wait for.
4. Whoever does not hold the lease first leaves a message in the run's inbox and then looks for a driver
   (`handover.keep_going`). A background driver that ends first gives up its lock and then looks at the log once
   more. So no message is lost between the two.
5. A run keeps the environment of whoever started it: the environment is handed to the background driver while the
   sender still attends to the run (`handover`), so that it is there before the driver takes the run.
"""

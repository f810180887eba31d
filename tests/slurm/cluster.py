"""A real SLURM of one node for tests: Debian's packages, two pretended GPUs, no accounting, no systemd."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "munge")
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
CONFIGURATION = """\
ClusterName=ci
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={home}/run/munge.sock,cred_expire=5
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool
SlurmctldPidFile={home}/run/slurmctld.pid
SlurmdPidFile={home}/run/slurmd.pid
SlurmctldLogFile={home}/log/slurmctld.log
SlurmdLogFile={home}/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
EnforcePartLimits=ALL
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=2
KillWait=5
GresTypes=gpu
NodeName=localhost NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=8000 Gres=gpu:l40:2 State=UNKNOWN
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 GraceTime=10
PartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF
"""
# cred_expire: a requeued job waits for the credential of its first start to expire, two minutes unless told otherwise.
# CPUs: more than there are, since the runs of a test are small and queueing for a processor is not what is tested.


class Unavailable(RuntimeError):
    """This machine cannot run SLURM; the message says why."""


def install() -> None:
    """Debian's packages, if they are not there."""
    if os.geteuid() != 0:
        raise Unavailable("starting SLURM's daemons needs root")
    if shutil.which("slurmctld", path=PATH) and shutil.which("munged", path=PATH):
        return
    if not shutil.which("apt-get"):
        raise Unavailable("SLURM is installed with apt-get, which is not here")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *PACKAGES]):
        done = subprocess.run(
            ["apt-get", "-o", "DPkg::Lock::Timeout=120", *command],
            env=quiet,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if done.returncode:
            raise Unavailable(f"apt-get {' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")


class Cluster:
    """`with Cluster(folder) as cluster`: running inside; `cluster.environment` reaches it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = {**os.environ, "SLURM_CONF": str(home / "slurm.conf"), "PATH": f"{os.environ['PATH']}:{PATH}"}

    def __enter__(self) -> Cluster:
        home = self.home
        for name in ("run", "log", "state", "spool", "dev"):
            (home / name).mkdir(parents=True)
        key = home / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        for number in (0, 1):
            os.mknod(home / "dev" / f"nvidia{number}", 0o20666, os.makedev(1, 3))  # as /dev/null
        (home / "gres.conf").write_text(f"NodeName=localhost Name=gpu Type=l40 File={home}/dev/nvidia[0-1]\n")
        (home / "slurm.conf").write_text(CONFIGURATION.format(home=home, cpus=os.cpu_count()))
        try:
            run = home / "run"
            self._daemon("munged", f"--key-file={key}", f"--socket={run}/munge.sock", f"--pid-file={run}/munged.pid",
                         f"--log-file={home}/log/munged.log", f"--seed-file={run}/munged.seed")  # fmt: skip
            self._daemon("slurmctld", "-f", str(home / "slurm.conf"))
            self._daemon("slurmd", "-f", str(home / "slurm.conf"), "-N", "localhost")
            self._until(lambda: set(self("sinfo", "-h", "-N", "-o", "%T").split()) == {"idle"}, "the node is idle")
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self("scancel", "--user", "root")
        self._until(lambda: not self("squeue", "-h").strip(), "the queue is empty")
        self.stop()

    def __call__(self, *command: str) -> str:
        """What a SLURM command prints; nothing where it fails."""
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=30, check=False).stdout

    def stop(self) -> None:
        for name in ("slurmd", "slurmctld", "munged"):
            path = self.home / "run" / f"{name}.pid"
            if path.exists() and (text := path.read_text().strip()):
                with suppress(ProcessLookupError):  # it may never have got going
                    os.kill(int(text), signal.SIGTERM)
                self._until(lambda pid=text: not Path("/proc", pid).exists(), f"{name} has ended")

    def _daemon(self, name: str, *arguments: str) -> None:
        program = shutil.which(name, path=PATH)
        done = subprocess.run([program or name, *arguments], env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{name}: {done.stderr}{self._logs()}")

    def _until(self, condition: object, what: str, seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while not condition():  # type: ignore[operator]
            if time.monotonic() > end:
                raise TimeoutError(f"waited {seconds:.0f} s until {what}{self._logs()}")
            time.sleep(0.1)

    def _logs(self) -> str:
        return "".join(f"\n{path.name}:\n{path.read_text()[-2000:]}" for path in (self.home / "log").glob("*.log"))

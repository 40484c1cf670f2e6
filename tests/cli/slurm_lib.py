# A small Slurm on this machine, for tests: two nodes with GPUs that are none.
# SPDX-License-Identifier: MIT
"""slurmctld, slurmd and munged of their own folder, key, user and ports; what
is configured on the machine plays no part and is not touched. A job that is
requeued waits as long as a credential is good (slurm.conf(5), cred_expire).
"""
import os
import shutil
import signal
import socket
import subprocess

import lib

PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "squeue", "scancel",
            "sinfo", "scontrol")
# On Debian some of them are where only root looks.
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"

# Node, type of its GPUs, and what stands for them. The figures of the machine
# are overridden: many small jobs run at once.
NODES = (("front-a", "big"), ("front-b", "small"))
CONFIG = """\
ClusterName=autofit
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=20
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
PlugStackConfig={folder}/plugstack.conf
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=1,\
sched_min_interval=0
ReturnToService=2
KillWait=5
MinJobAge=60
GresTypes=gpu
"""


class Cluster:
    """Started by `with`; skips the test, with its reason, where it cannot."""

    def __init__(self):
        missing = [p for p in PROGRAMS if not shutil.which(p, path=PATH)]
        if missing:
            lib.skip("no Slurm here: %s not found (Debian: slurmctld, slurmd, "
                     "slurm-client, munge)" % missing[0])
        if os.getuid():
            lib.skip("slurmd and its jobs need root")
        self.place = lib.Place("slurm")
        self.folder = self.place.folder
        self.daemons = {}
        self.env = {"SLURM_CONF": self.path("slurm.conf"), "PATH": PATH}

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def __enter__(self):
        os.chmod(self.folder, 0o755)
        for name in ("munge", "state", *("spool/" + n for n, _ in NODES)):
            os.makedirs(self.path(name))
        self.configure()
        self.begin("munged", "--foreground", "--key-file=" +
                   self.path("munge/key"), "--socket=" +
                   self.path("munge/socket"), "--pid-file=" +
                   self.path("munge/pid"), "--log-file=" +
                   self.path("munge/log"), "--seed-file=" +
                   self.path("munge/seed"), "--num-threads=2")
        ready = lib.wait_for(lambda: os.path.exists(self.path("munge/socket")),
                             60)
        self.begin("slurmctld", "-D")
        for name, _ in NODES:
            self.begin_node(name)
        if not ready or not lib.wait_for(self.is_idle, 60):
            self.__exit__()
            lib.skip("Slurm does not start here: " + self.last_words())
        return self

    def __exit__(self, *_):
        self.ask("scancel", "--user=root")
        lib.wait_for(lambda: not self.queue(), 30)
        for process in reversed(list(self.daemons.values())):
            process.send_signal(signal.SIGTERM)
        for process in self.daemons.values():
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
        self.place.__exit__()

    def configure(self):
        sockets = [socket.socket() for _ in range(len(NODES) + 1)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        ports = [one.getsockname()[1] for one in sockets]
        for one in sockets:
            one.close()
        host = socket.gethostname()
        text = CONFIG.format(folder=self.folder, ports=ports, host=host,
                             user="root")
        gres = ""
        for port, (name, kind) in zip(ports[1:], NODES):
            text += ("NodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%d "
                     "CPUs=8 RealMemory=1000 Gres=gpu:%s:2\n" %
                     (name, host, port, kind))
            gres += "".join("NodeName=%s Name=gpu Type=%s File=%s\n" %
                            (name, kind, file)
                            for file in ("/dev/null", "/dev/zero"))
        text += ("PartitionName=main Nodes=%s Default=YES MaxTime=60\n" %
                 ",".join(name for name, _ in NODES))
        self.place.write("slurm.conf", text)
        self.place.write("gres.conf", gres)
        self.place.write("cgroup.conf", "")
        self.place.write("plugstack.conf", "")
        with open(self.path("munge/key"), "wb") as file:
            file.write(os.urandom(1024))
        os.chmod(self.path("munge/key"), 0o600)

    def begin(self, *words, name=None):
        with open(self.path("daemons.log"), "ab") as log:
            self.daemons[name or words[0]] = subprocess.Popen(
                words, env=dict(os.environ, **self.env), stdout=log,
                stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)

    def begin_node(self, name):
        self.begin("slurmd", "-D", "-N", name, name=name)

    def kill_node(self, name):
        """As if it crashed; the jobs on it go on, as Slurm's do."""
        self.daemons[name].kill()
        self.daemons[name].wait()
        self.begin_node(name)

    def ask(self, *words):
        done = subprocess.run(words, env=dict(os.environ, **self.env),
                              capture_output=True, text=True, check=False,
                              timeout=lib.PATIENCE)
        return done.stdout

    def is_idle(self):
        return self.ask("sinfo", "-N", "-h", "-o", "%T").split() == \
            ["idle"] * len(NODES)

    def queue(self, states="pending,running,completing,suspended"):
        """Jobs that are not over: (id, name, state)."""
        out = self.ask("squeue", "-h", "--states=" + states, "-o", "%i|%j|%T")
        return [tuple(line.split("|")) for line in out.splitlines()]

    def last_words(self):
        words = []
        for name in ("munge/log", "slurmctld.log", "slurmd-front-a.log"):
            if os.path.exists(self.path(name)):
                with open(self.path(name), encoding="utf-8",
                          errors="replace") as file:
                    words += file.read().splitlines()[-1:]
        return "; ".join(words)

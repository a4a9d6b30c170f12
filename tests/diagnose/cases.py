# SPDX-License-Identifier: BSD-3-Clause
"""
The problems that programs plant, and what `lode diagnose` has to say of each. The head of each source states the truth.
"""

from typing import NamedTuple


class Case(NamedTuple):
    """A program with a problem, and without it (the control)."""

    kind: str
    source: str
    rules: tuple = ()  # any of these finds it
    functions: tuple = ()  # any of these has to be named
    who: str = ""  # "rank" or "thread": it has to be named as the program prints it
    true_too: tuple = ()  # rules that may speak as well: effects of the same problem
    always: tuple = ()  # rules that may speak of the control, too: what they say is true
    gain: tuple = (0, 100)  # percent of the run that could be saved, by what is planted and where the limits of a gain differ
    note: str = ""  # it is found if there is this note on quality, and no statement
    is_counted: bool = False  # it does not depend on times: also asserted in CI
    mpi: str = ""
    ranks: int = 2  # 0: more than there are processors
    flags: tuple = ("-pg",)
    is_database: bool = False  # `lode build` makes a database, which is judged
    has_load: bool = False  # other programs keep all processors busy
    variants: tuple = ("planted", "control")
    has_plant: bool = True  # the program gets the name of the variant; else it is always the control
    environment: tuple = ()

    @property
    def has_priority(self):
        """Not where the machine is what is planted."""
        return not self.has_load and not self.note


OPENMP = {"flags": ("-pg", "-fopenmp"), "environment": (("OMP_NUM_THREADS", "2"),)}
INSTRUMENTED = ("-finstrument-functions",)
JOB = {"true_too": ("efficiency", "mpi-startup"), "always": ("mpi-startup",)}
WAITS = ("efficiency",)
UNEQUAL = ("imbalance", "slow-thread")

CASES = (
    Case("lock (mutex)", "lock_mutex", ("lock",), ("transfer", "update_accounts"), true_too=WAITS, gain=(25, 60)),
    Case("lock (rwlock)", "lock_rwlock", ("lock",), ("change_entry",), true_too=WAITS, gain=(25, 60)),
    Case("lock (holder sleeps)", "lock_held", ("lock",), ("append_log",), true_too=WAITS, always=WAITS, gain=(25, 60)),
    Case("lock (pre-empted holders)", "lock_preempted", has_load=True, variants=("control",)),
    Case("slow thread", "slow_thread", UNEQUAL, ("solve_part", "solve"), "thread", true_too=WAITS, gain=(25, 65)),
    Case("OpenMP imbalance", "omp_imbalance", ("omp-imbalance", *UNEQUAL), ("sweep", "relax_row"), true_too=WAITS, gain=(25, 40), **OPENMP),
    Case("OpenMP serial part", "omp_serial", ("omp-serial",), ("assemble",), true_too=(*WAITS, "serial"), gain=(20, 55), **OPENMP),
    Case("MPI imbalance (Open MPI)", "mpi_imbalance", ("mpi", *UNEQUAL), ("solve_block",), "rank", **JOB, mpi="openmpi"),
    Case("MPI imbalance (MPICH)", "mpi_imbalance", ("mpi", *UNEQUAL), ("solve_block",), "rank", **JOB, mpi="mpich"),
    Case("MPI late rank (Open MPI)", "mpi_late", ("mpi", *UNEQUAL), ("make_table", "MPI_Bcast"), **JOB, mpi="openmpi"),
    Case("MPI late rank (MPICH)", "mpi_late", ("mpi", *UNEQUAL), ("make_table", "MPI_Bcast"), **JOB, mpi="mpich"),
    Case("small writes", "small_writes", ("small-io",), ("save_point",), true_too=("file-io",), is_counted=True),
    Case("file reading", "file_read", ("file-io",), ("load_table",), gain=(20, 60)),
    Case("allocation churn", "churn", ("churn",), ("parse_line",), is_counted=True, true_too=("allocation",)),
    Case("long tail", "long_tail", ("long-tail",), ("handle_order",), gain=(45, 65)),
    Case("one wait", "one_wait", ("sleep",), ("connect_service",), gain=(30, 55)),
    Case("recursion", "recursion", ("recursion",), ("count_paths",), is_counted=True, flags=INSTRUMENTED),
    Case("serial producer", "producer", ("serial",), ("make_item", "produce"), true_too=(*WAITS, *UNEQUAL)),
    Case("oversubscribed threads", "oversubscribed", note="oversubscribed"),
    Case("oversubscribed ranks (Open MPI)", "mpi_imbalance", note="oversubscribed", mpi="openmpi", ranks=0, variants=("planted",), has_plant=False),
    Case("oversubscribed ranks (MPICH)", "mpi_imbalance", note="oversubscribed", mpi="mpich", ranks=0, variants=("planted",), has_plant=False),
    Case("database: MPI imbalance (Open MPI)", "mpi_imbalance", ("mpi", "imbalance"), ("solve_block",), "rank", **JOB, mpi="openmpi",
         is_database=True),
    Case("database: MPI imbalance (MPICH)", "mpi_imbalance", ("mpi", "imbalance"), ("solve_block",), "rank", **JOB, mpi="mpich",
         is_database=True),
    Case("database: file reading", "file_read", ("file-io",), ("load_table",), is_database=True),
    Case("database: slow thread", "slow_thread", ("imbalance",), ("solve_part", "solve"), true_too=WAITS, is_database=True),
    Case("database: OpenMP serial part", "omp_serial", ("omp-serial",), ("assemble",), true_too=(*WAITS, "serial"), is_database=True, **OPENMP),
)

"""Kernels in virtual time that start at the same moment."""

from __future__ import annotations

import os
import subprocess
import sys

from ackclock.linux.store import Built

ROUNDS = """
import threading
import numpy
from scipy.linalg import blas
import ackclock

def run():
    together.wait()
    ackclock.run(scenario, on="linux")

matrix = numpy.ones((800, 800))
scenario = ackclock.Scenario("test", duration="0.3 s", topology={"kind": "chain"}, flow=[{"host": "linux"}])
for _ in range(40):
    blas.dgemm(1.0, matrix, matrix)
    together = threading.Barrier(4)
    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
"""Before a fork OpenBLAS joins its threads; two forks at once would join them twice, and wait forever."""


def test_kernels_start_at_once_beside_the_threads_of_libraries(built: Built) -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "32"}
    subprocess.run([sys.executable, "-c", ROUNDS], env=environment, check=True, timeout=300)

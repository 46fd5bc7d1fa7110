"""Samples of the unit cube, for sweeps: independent, in a Latin hypercube, or along a Sobol sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock import extras

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def unit_cube(method: str, count: int, seed: int, dimensions: int) -> NDArray[np.float64]:
    """Draw points of the unit cube. The same arguments give the same points.

    Parameters
    ----------
    method
        ``"random"``: independent points. ``"latin-hypercube"``: one point in each of `count` slices of every axis.
        ``"sobol"``: a scrambled Sobol sequence, for which `count` must be a power of two.
    count
        Number of points.
    seed
        Seed of the generator.
    dimensions
        Coordinates of a point.

    Raises
    ------
    MissingError
        If the Sobol sequence is wanted, and SciPy is not installed.

    Returns
    -------
    numpy.ndarray
        One row for each point; every coordinate is at least 0 and below 1.

    References
    ----------
    M. D. McKay, R. J. Beckman, W. J. Conover, *A comparison of three methods for selecting values of input variables
    in the analysis of output from a computer code*, Technometrics 21 (1979). A. B. Owen, *Scrambling Sobol' and
    Niederreiter–Xing points*, Journal of Complexity 14 (1998).
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    if method == "random":
        return generator.random((count, dimensions))
    if method == "latin-hypercube":
        (generator,) = generator.spawn(1)  # as SciPy does, whose points these are
        within = generator.uniform(size=(count, dimensions))
        slices = np.tile(np.arange(1, count + 1), (dimensions, 1))
        for each in slices:
            generator.shuffle(each)
        return (slices.T - within) / count
    with extras.needed("statistics", 'samples with method = "sobol"'):
        from scipy.stats import qmc
    drawn: NDArray[np.float64] = qmc.Sobol(dimensions, seed=generator).random(count)
    return drawn

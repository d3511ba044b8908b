"""The door to SciPy: quantiles and tails of distributions. Pure: numbers in, numbers out.

SciPy is loaded where a figure is first asked for: it takes a command 150 ms to load.
"""

from __future__ import annotations


def beta_quantile(share: float, a: float, b: float) -> float:
    """Below which `share` of the beta distribution lies."""
    from scipy.special import betaincinv

    return float(betaincinv(a, b, share))


def binomial_below(most: int, many: int, rate: float) -> float:
    """The probability of at most so many hits in `many` throws."""
    from scipy.special import bdtr

    return float(bdtr(most, many, rate)) if most >= 0 else 0.0


def normal_below(z: float) -> float:
    """The share of the normal distribution below `z`."""
    from scipy.special import ndtr

    return float(ndtr(z))


def student_quantile(share: float, free: float) -> float:
    """Below which `share` of Student's t with so many degrees of freedom lies."""
    from scipy.special import stdtrit

    return float(stdtrit(free, share))


def student_above(t: float, free: float) -> float:
    """The share of Student's t with so many degrees of freedom above `t`."""
    from scipy.special import stdtr

    return float(stdtr(free, -t))

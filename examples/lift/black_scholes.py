"""Prices of options by the formula of Black and Scholes."""

# pyright: basic, reportInvalidTypeForm=false

import numpy as np

import tiledialect as td
from tiledialect import lift

COEFFICIENTS = (0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429)


def normal(x):
    """The distribution function of the normal distribution, by a polynomial."""
    length = lift.abs(x)
    k = 1.0 / (1.0 + 0.2316419 * length)
    polynomial = 0.0
    for coefficient in reversed(COEFFICIENTS):
        polynomial = k * (coefficient + polynomial)
    density = lift.exp(-0.5 * length * length) / 2.506628273
    tail = density * polynomial
    return lift.where(x < 0.0, tail, 1.0 - tail)


@lift.fun
def black_scholes(
    spot: lift.array("N"),
    strike: lift.array("N"),
    years: lift.array("N"),
    rate: lift.f32,
    volatility: lift.f32,
):
    """The prices of calls and puts."""

    def prices(s, x, t):
        deviation = volatility * lift.sqrt(t)
        d1 = (lift.log(s / x) + (rate + 0.5 * volatility * volatility) * t) / deviation
        d2 = d1 - deviation
        discounted = x * lift.exp(-rate * t)
        call = s * normal(d1) - discounted * normal(d2)
        put = discounted * normal(-d2) - s * normal(-d1)
        return call, put

    calls, puts = lift.unzip(lift.zip(spot, strike, years) >> lift.map(prices))
    return {"calls": calls, "puts": puts}


if __name__ == "__main__":
    spot, strike, years = np.array([[10.0, 20.0], [12.0, 18.0], [1.0, 2.0]], np.float32)
    print(td.compile(black_scholes).reference(spot, strike, years, 0.02, 0.3))

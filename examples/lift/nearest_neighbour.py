"""The distances of many places to one, and which place is the nearest."""

# pyright: basic, reportInvalidTypeForm=false

import numpy as np

import tiledialect as td
from tiledialect import lift


def distance(place, latitude, longitude):
    return lift.sqrt((latitude - place[0]) ** 2.0 + (longitude - place[1]) ** 2.0)


@lift.fun
def distances(places: lift.array("N", 2), latitude: lift.f32, longitude: lift.f32):
    return places >> lift.map(lambda place: distance(place, latitude, longitude))


@lift.fun
def nearest(places: lift.array("N", 2), latitude: lift.f32, longitude: lift.f32):
    """The index of the nearest place."""

    def nearer(best, candidate):
        (d, _), (e, _) = best, candidate
        return lift.where(e < d, candidate, best)

    numbers = lift.generate(places.size, lambda i: lift.cast(i, lift.i32))
    found = places >> lift.map(lambda place: distance(place, latitude, longitude))
    return lift.zip(found, numbers) >> lift.reduce(nearer, (np.inf, 0)) >> lift.get(1)


if __name__ == "__main__":
    places = np.array([[0, 0], [1, 1], [2, 0]], np.float32)
    print(td.compile(distances).reference(places, 1.0, 0.5))
    print(td.compile(nearest).reference(places, 1.0, 0.5))

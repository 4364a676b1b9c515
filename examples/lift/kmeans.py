"""To which of some centres each of many points is nearest: a step of k-means."""

# pyright: basic, reportInvalidTypeForm=false

import numpy as np

import tiledialect as td
from tiledialect import lift


@lift.fun
def kmeans(features: lift.array("F", "P"), clusters: lift.array("C", "F")):
    """The points are the columns of ``features``."""

    def distance(point, centre):
        squares = lift.map(lambda a, b: (a - b) * (a - b))
        return lift.zip(point, centre) >> squares >> lift.reduce(lift.add, 0.0)

    def nearest(point):
        def nearer(best, centre):
            least, number, index = best
            d = distance(point, centre)
            closer = d < least
            return lift.where(closer, d, least), number + 1, lift.where(closer, number, index)

        return clusters >> lift.reduce_seq(nearer, (np.inf, 0, 0)) >> lift.get(2)

    return features >> lift.transpose >> lift.map(nearest)


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    features, centres = rng.random((2, 10), np.float32), rng.random((3, 2), np.float32)
    print(td.compile(kmeans).reference(features, centres))

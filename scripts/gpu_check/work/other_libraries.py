# What other libraries take of a GPU, for the checks of gpu-check.
# SPDX-License-Identifier: MIT
"""Each warms up, meets, takes another 512 MiB, and meets again."""
import shutil

from meet import meet, run, skip

MIB = 1 << 20
GROWN = 512 * MIB


def need(name):
    try:
        return __import__(name)
    except ImportError:
        skip("%s is not installed" % name)


def jax():
    jax = need("jax")
    import jax.numpy as jnp

    if jax.default_backend() not in ("gpu", "cuda"):
        skip("jax sees no GPU here (%s)" % jax.default_backend())
    a = jnp.ones((512, 512))
    kept = [(a @ a).block_until_ready()]
    meet("warm", version=jax.__version__)
    kept.append(jnp.ones(GROWN, dtype=jnp.uint8).block_until_ready())
    meet("end", grown=GROWN, kept=len(kept))


def cupy():
    cupy = need("cupy")

    kept = [cupy.ones(16 * MIB, dtype=cupy.uint8) + 1]
    cupy.cuda.Device().synchronize()
    meet("warm", version=cupy.__version__)
    kept.append(cupy.ones(GROWN, dtype=cupy.uint8))
    cupy.cuda.Device().synchronize()
    meet("end", grown=GROWN, kept=len(kept))


def triton():
    triton = need("triton")
    if not (shutil.which("cc") or shutil.which("gcc")):
        skip("triton needs a C compiler, and there is none")
    from triton_kernel import launch

    kept = [launch(MIB)]
    if float(kept[0][7]) != 1.0:
        raise RuntimeError("the kernel did not run")
    meet("warm", version=triton.__version__)
    kept.append(launch(GROWN // 4))
    meet("end", grown=GROWN)


def numba():
    numba = need("numba")
    import numpy
    from numba import cuda

    if not cuda.is_available():
        skip("numba sees no GPU here")
    kept = [cuda.to_device(numpy.ones(MIB, dtype=numpy.uint8))]
    cuda.synchronize()
    meet("warm", version=numba.__version__)
    kept.append(cuda.device_array(GROWN, dtype=numpy.uint8))
    cuda.synchronize()
    meet("end", grown=GROWN, kept=len(kept))


run({"jax": jax, "cupy": cupy, "triton": triton, "numba": numba})

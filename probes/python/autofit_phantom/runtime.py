# What the CUDA runtime of the phantom card offers.
# SPDX-License-Identifier: MIT


class Runtime(object):
    """Its functions beside those of CUDA."""

    def __init__(self, torch):
        import ctypes

        # There may be one for each version of CUDA: PyTorch uses its own.
        major = torch.version.cuda.partition(".")[0]
        library = ctypes.PyDLL("libcudart.so." + major)
        self.unseen = Unseen(library.autofit_phantom_handle)
        self.tell = library.autofit_phantom_value
        self.end = library.autofit_phantom_end
        # What ranks say to each other (probes/phantom/device/sim_kept.h).
        driver = ctypes.PyDLL("libcuda.so.1")
        address, size = ctypes.c_uint64, ctypes.c_size_t
        self.keep = driver.autofit_phantom_keep
        self.keep.argtypes = [address, ctypes.c_void_p, size, ctypes.c_int]
        self.kept = driver.autofit_phantom_kept
        self.kept.argtypes = [address, ctypes.c_void_p, size]

    def quiet(self, function, name):
        """
        What is printed or saved decides nothing, nor does what an operation
        reads whose result is as large with any values.
        """

        def call(*args, **kwargs):
            with self.unseen:
                return function(*args, **kwargs)

        return call


class Unseen(object):
    """Reads of this thread, and kernels, mean nothing in here."""

    def __init__(self, change):
        self.change = change

    def __enter__(self):
        self.change(1)

    def __exit__(self, *error):
        self.change(-1)

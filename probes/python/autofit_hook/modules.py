# The modules of this process: the user's own files, and what it imported.
# SPDX-License-Identifier: MIT
import os
import sys

from autofit_hook.process import own_start, write_down, write_more
from autofit_hook.wrapping import attribute_of

MAX_PATHS = 2000
MAX_PATH = 4096
FRAMEWORKS = (
    "torch transformers accelerate deepspeed lightning pytorch_lightning peft "
    "trl bitsandbytes flash_attn xformers apex timm datasets"
).split()
# Python's own, and that of a project that setuptools installed as editable.
FINDERS = ("PathFinder", "_EditableFinder")
# Of these nothing publishes the modules.
OTHERS = "jax jaxlib flax optax keras paddle".split()
LIBRARIES = (
    "lib/python lib64/python local/lib/python local/lib64/python lib/pypy"
).split()
VERSION_MODULES = ("version", "_version", "__version__", "__about__")
# Packages; and code that torch, triton and extension builders write: it
# follows from the rest, and differs with the batch size.
INSTALLED_PARTS = "/site-packages/ /dist-packages/".split()
FOREIGN_PARTS = INSTALLED_PARTS + (
    "/torchinductor_ /.triton/ /torch_extensions/"
).split()
GENERATED_VARIABLES = (
    "TORCHINDUCTOR_CACHE_DIR",
    "TRITON_CACHE_DIR",
    "TORCH_EXTENSIONS_DIR",
)


class Modules(object):
    """
    The files of this process's modules. __main__ may have a relative path, so
    the folder that it was started in is kept.
    """

    def __init__(self, folder):
        self.folder = folder
        try:
            self.start_folder = os.getcwd()
        except OSError:
            self.start_folder = "/"
        self.main = []
        # Nothing but the program's words had changed the environment when it
        # imported torch, and it is no rank of others: another process may
        # import the same beforehand.
        self.are_plain = False
        self.start = own_start()
        self.noted = set()
        self.foreign = ()

    def note(self, name, path):
        """
        A module that is looked for now, if it is the user's own, or says a
        framework's version: nothing may publish all of them, and a probe may be
        stopped at any time.
        """
        try:
            parts = name.split(".")
            says = parts[0] in OTHERS and parts[-1] in VERSION_MODULES
            self.foreign = self.foreign or self.foreign_folders()
            for folder in path or ():
                if is_foreign(folder, self.foreign) and not says:
                    return
            spec = spec_found(name, path)
            found = getattr(spec, "has_location", False) and (
                os.path.realpath(spec.origin)
                if says
                else self.own_file(spec.origin)
            )
            if found and found not in self.noted:
                self.noted.add(found)
                write_more(self.folder, "modules", os.fsencode(found) + b"\0")
        except Exception:
            pass

    def publish(self):
        """Never raises, and leaves no half-written file under its name."""
        try:
            data = b"".join(name + b"\0" for name in self.paths())
            write_down(self.folder, "modules", data)
            if self.are_plain and self.start:
                data = "".join(name + "\0" for name in self.installed())
                write_down(self.folder, "start", self.start)
                write_down(self.folder, "imports", data.encode("ascii"))
        except Exception:
            pass

    def installed(self):
        """Names of Python's modules and of packages, in their order."""
        places = tuple(self.installed_folders())
        found = []
        for name, module in list(sys.modules.items()):
            spec = spec_of(module)
            path = getattr(spec, "origin", None)
            if not isinstance(path, str) or spec.name != name:
                continue
            if path.startswith(places) or has_part(path, INSTALLED_PARTS):
                found.append(name)
        return found

    def paths(self):
        modules = dict(list(sys.modules.items()))
        found = []
        if sys.executable:
            found.append(os.path.realpath(sys.executable))
        for name in FRAMEWORKS:
            if name in modules:
                found.append(version_file(modules, name))
        # At exit __main__ has lost its name.
        names = ["__main__", "__mp_main__"]
        self.main = self.local(modules, names) or self.main
        found += self.main + sorted(self.local(modules, list(modules)))
        return once(found)

    def local(self, modules, names):
        self.foreign = self.foreign_folders()
        found = []
        for name in names:
            path = self.own_file(file_of(modules.get(name)))
            if path is not None:
                found.append(path)
        return found

    def own_file(self, path):
        """The source of a module's file; None: it is not the user's own."""
        self.foreign = self.foreign or self.foreign_folders()
        # Cheap first: most modules are of the interpreter or a package.
        if path is None or is_foreign(path, self.foreign):
            return None
        path = os.path.abspath(os.path.join(self.start_folder, path))
        path = os.path.realpath(source_of(path))
        if is_foreign(path, self.foreign) or not os.path.isfile(path):
            return None
        return path

    def installed_folders(self):
        roots = {sys.prefix, sys.exec_prefix}
        roots.update([sys.base_prefix, sys.base_exec_prefix])
        roots.update([os.path.realpath(root) for root in roots])
        found = [os.path.join(r, lib) for r in roots for lib in LIBRARIES]
        if getattr(os, "__file__", None):
            found.append(os.path.dirname(os.path.abspath(os.__file__)) + "/")
            found.append(os.path.dirname(os.path.realpath(os.__file__)) + "/")
        return found

    def foreign_folders(self):
        """Where neither the user's modules are nor any that stay."""
        found = self.installed_folders()
        folders = [self.folder, own_folder()]
        folders += [os.environ.get(name) for name in GENERATED_VARIABLES]
        for folder in folders:
            if folder:
                found.append(os.path.abspath(folder) + "/")
                found.append(os.path.realpath(folder) + "/")
        return tuple(found)


def own_folder():
    """That of sitecustomize.py."""
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def file_of(module):
    path = attribute_of(module, "__file__")
    return path if isinstance(path, str) and path else None


def spec_of(module):
    return attribute_of(module, "__spec__")


def spec_found(name, path):
    """As Python finds modules in sys.path, and packages theirs."""
    for finder in sys.meta_path:
        if getattr(finder, "__name__", None) in FINDERS:
            spec = finder.find_spec(name, path)
            if spec is not None:
                return spec
    return None


def version_file(modules, name):
    """The file that changes with the version, of the modules there are."""
    for last in VERSION_MODULES:
        path = file_of(modules.get(name + "." + last))
        if path is not None:
            break
    else:
        path = file_of(modules[name])
    return os.path.realpath(source_of(path)) if path else ""


def source_of(path):
    if not path.endswith(".pyc"):
        return path
    folder, name = os.path.split(path)
    if os.path.basename(folder) == "__pycache__":
        source = os.path.dirname(folder) + "/" + name.split(".")[0] + ".py"
    else:
        source = path[:-1]
    return source if os.path.isfile(source) else path


def is_foreign(path, folders):
    return path.startswith(folders) or has_part(path, FOREIGN_PARTS)


def has_part(path, parts):
    for part in parts:
        if part in path:
            return True
    return False


def once(paths):
    """As bytes, absolute, each once, in order, and not too many."""
    seen = set()
    found = []
    for path in paths:
        name = os.fsencode(path)
        if name.startswith(b"/") and len(name) < MAX_PATH and name not in seen:
            seen.add(name)
            found.append(name)
    return found[:MAX_PATHS]

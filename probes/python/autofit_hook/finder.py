# Sees imports go by, and binds the rest of the hook to torch once it is there.
# SPDX-License-Identifier: MIT
import os
import sys

from autofit_hook.by_hand import ByHand
from autofit_hook.channel import COUNTS_OOMS, HOOK_FAILED, TORCH
from autofit_hook.keras import Batches
from autofit_hook.modules import Modules
from autofit_hook.ooms import count_ooms
from autofit_hook.opened import Opened
from autofit_hook.phases import Phases
from autofit_hook.process import files_folder, own_rank
from autofit_hook.steps import Counter, hook_classes, hook_global
from autofit_hook.wrapping import is_loading


class Finder(object):
    """
    Finds nothing; sees each import go by. torch.optim imports more modules
    after torch.optim.optimizer, so that one is complete when the next is
    looked for, and no loader has to be replaced for it.
    """

    def __init__(self, channel):
        self.channel = channel
        self.modules = Modules(files_folder(channel.path))
        self.phases = None
        self.batches = Batches(channel, self.modules)
        self.environment = dict(os.environ)
        self.opened = Opened(self.modules)
        self.opened.watch()

    def find_spec(self, fullname, path=None, target=None):
        if fullname == "torch" and self.environment is not None:
            self.modules.are_plain = (
                self.environment == dict(os.environ) and own_rank() < 0
            )
            self.environment = None
        if fullname:
            self.modules.note(fullname, path)
        try:
            self.opened.leave_uncompiled()
            self.batches.bind()
        except Exception:
            pass
        # Stays in sys.meta_path: importlib is walking that list right now.
        if self.channel is not None and "torch.optim.optimizer" in sys.modules:
            try:
                self.look(sys.modules["torch.optim.optimizer"])
            except Exception:
                pass
        elif self.phases is not None:
            try:
                self.phases.bind()
            except Exception:
                pass
        return None

    def look(self, module):
        if is_loading(module):
            return
        channel, self.channel = self.channel, None
        self.phases = Phases(channel)
        try:
            counter = Counter(channel, self.modules, self.phases)
            if hasattr(module, "register_optimizer_step_post_hook"):
                hook_global(module, counter)
            else:
                hook_classes(module, counter)
            counter.sees_steps = True
            channel.flag(TORCH)
        except Exception:
            channel.flag(HOOK_FAILED)
            return
        if "torch.autograd" in sys.modules:
            ByHand(counter).bind()
        self.phases.bind()
        counter.counts_ooms = count_ooms(channel)
        if counter.counts_ooms:
            channel.flag(COUNTS_OOMS)

"""Build hook: compile the native accelerator if there is a C compiler, and continue without it otherwise."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = "viewer/native/_fast.c"
MODULE = "viewer/native/_fast.abi3.so"
FLAGS = ("-O3", "-fPIC", "-std=c11", "-Wall", "-Wextra", "-Wno-cast-function-type", "-fvisibility=hidden")
LINKING = {"darwin": ("-bundle", "-undefined", "dynamic_lookup")}
OTHERWISE_LINKING = ("-shared",)


class NativeBuildHook(BuildHookInterface[Any]):
    """Adds the module to wheels. An editable installation finds it in its package, as it finds everything else."""

    made = ""
    """The folder with the modules that were compiled for a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and name the platform in the tag of the wheel."""
        if self.target_name != "wheel":
            return
        in_place = Path(self.root, MODULE)
        if version == "editable":
            in_place.unlink(missing_ok=True)
            module = in_place
        else:
            self.made = tempfile.mkdtemp()
            module = Path(self.made, in_place.name)
        if problem := compile_module(Path(self.root, SOURCE), module):
            self.app.display_warning(f"ocmlview is built without its native accelerator: {problem}.")
        elif version != "editable":
            build_data["force_include"][str(module)] = MODULE
            build_data["pure_python"] = False
            build_data["tag"] = f"cp311-abi3-{platform_tag()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the modules that were compiled for a wheel."""
        if self.made:
            shutil.rmtree(self.made, ignore_errors=True)


def compile_module(source: Path, module: Path) -> str:
    """Compile; return why it failed, or nothing."""
    command = shlex.split(os.environ.get("CC") or "cc")
    if os.environ.get("OCMLVIEW_NATIVE") == "0":
        return "OCMLVIEW_NATIVE is 0"
    if os.name != "posix" or not shutil.which(command[0]):
        return "there is no C compiler"
    linking = LINKING.get(sys.platform, OTHERWISE_LINKING)
    unfinished = module.with_name(f"{module.name}.{os.getpid()}")
    arguments = [*FLAGS, f"-I{sysconfig.get_path('include')}", str(source), *linking, "-o", str(unfinished)]
    try:
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if "error" in line]
            return f"{command[0]} failed ({(lines or ['no reason'])[0].strip()})"
        unfinished.replace(module)
    except OSError as error:
        return f"{command[0]} failed ({error.strerror})"
    finally:
        unfinished.unlink(missing_ok=True)
    return ""


def platform_tag() -> str:
    """The platform in a wheel's name. A universal Python compiles only for the current processor."""
    name = sysconfig.get_platform().replace("universal2", platform.machine())
    return name.replace("-", "_").replace(".", "_")

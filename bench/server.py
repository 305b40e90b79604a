"""The launcher of servers that the tests have, and the module of bare.c."""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "tests/clients"))

from servers import MODULE, SERVER, Server  # noqa: E402, F401


def bare_module() -> Path:
    """Compiles bare.c against the header that the crate redis-module brings; answers where it is."""
    metadata = json.loads(subprocess.check_output(("cargo", "metadata", "--format-version=1"), cwd=ROOT))
    crate = next(one["manifest_path"] for one in metadata["packages"] if one["name"] == "redis-module")
    header = Path(crate).parent / "src/include"
    module = ROOT / "target/bench-bare.so"
    command = ("cc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-I", header, "-o", module)
    subprocess.run((*command, HERE / "bare.c"), check=True)
    return module

"""Prints the licences of the crates that are linked into the module.

    cargo tree --edges normal,no-proc-macro --prefix none --format '{p}' | licences.py TARGET

Some of them (BSD, MIT) ask that their text goes along with a binary. A crate without a licence file is listed
with the name of its licence only.
"""

import json
import subprocess
import sys
from pathlib import Path

metadata = subprocess.run(
    ["cargo", "metadata", "--locked", "--format-version=1", "--filter-platform", sys.argv[1]],
    check=True,
    stdout=subprocess.PIPE,
)
packages = {(p["name"], p["version"]): p for p in json.loads(metadata.stdout)["packages"]}

# A line is `name vVERSION`, and ends in (*) where the crate was there before.
linked = sorted({tuple(line.split()[:2]) for line in sys.stdin if line.strip()})
crates_of = {}  # by the text of a licence, since most are word for word the same
print("The module is linked with these crates:\n")
for name, version in linked:
    package = packages[name, version.removeprefix("v")]
    if package["source"] is None:  # ourselves
        continue
    crate = f"{name} {package['version']}"
    print(f"- {crate}: {package['license']}")
    for file in sorted(Path(package["manifest_path"]).parent.iterdir()):
        if file.is_file() and file.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE")):
            crates_of.setdefault(file.read_text(errors="replace").strip(), []).append(f"{crate} ({file.name})")
for text, crates in crates_of.items():
    print(f"\n{'=' * 80}", *crates, f"{'=' * 80}\n", text, sep="\n")

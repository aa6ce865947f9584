# SPDX-License-Identifier: Apache-2.0
"""A folder of src/ may include only itself and the folders named for it here (ARCHITECTURE.md, "The tree").

Public headers (include/counterpoise/NAME.h) belong to the folder that defines them; HEADERS says which.
"""

import pathlib
import re
import sys

ALLOWED = {
    "base": [],
    "lengths": ["base"],
    "cost": ["base", "lengths"],
    "assign": ["base", "lengths", "cost"],
    "shard": ["base", "lengths", "cost", "assign"],
    "plan": ["base", "lengths", "cost", "assign", "shard"],
    "kernels": ["base"],
    "comm": ["base"],
    "sim": ["base", "lengths", "cost", "assign", "shard", "plan"],
    "exec": ["base", "lengths", "cost", "assign", "shard", "plan", "kernels", "comm"],
    "metrics": ["base", "lengths", "cost", "assign", "shard", "plan", "sim", "exec"],
}
ALLOWED["study"] = [*ALLOWED["metrics"], "metrics", "kernels"]
ALLOWED["report"] = [*ALLOWED["study"], "study"]
ALLOWED["cli"] = [*ALLOWED["report"], "report", "comm"]

HEADERS = {
    "base": "area error numbers parallel random",
    "lengths": "lengths length_summary",
    "cost": "profile cost_model kernel_profile links validate",
    "assign": "windows document_stream",
    "shard": "shard",
    "plan": "layout plan plan_file plan_loads scheme verify prices profile_prices timeline",
    "kernels": "attention",
    "comm": "communicator",
    "sim": "window_costs simulate law law_sweep simulate_plan validate_laws group_clock",
    "exec": "execute calibrate_cpu measure_links validate_cpu",
    "metrics": "metrics",
    "study": "study",
}


def header_folders():
    return {header: folder for folder, headers in HEADERS.items() for header in headers.split()}


def faults(root):
    owner = header_folders()
    for header in sorted((root / "include/counterpoise").glob("*.h")):
        if header.stem not in owner:
            yield f"{header.relative_to(root)}: name its folder in HEADERS of tools/include_direction.py"
    files = [(path, path.relative_to(root / "src").parts[0]) for path in sorted((root / "src").glob("*/**/*"))
             if path.suffix in (".h", ".cpp", ".inc")]
    files += [(path, owner[path.stem]) for path in sorted((root / "include/counterpoise").glob("*.h")) if path.stem in owner]
    for path, folder in files:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#include "(\w+)/(\w+)', line)
            if not match:
                continue
            target = owner.get(match[2], "?") if match[1] == "counterpoise" else match[1]
            if target != folder and target not in ALLOWED[folder]:
                yield f"{path.relative_to(root)}:{number}: {folder} may not include {target} ({match[0].strip()})"


def main():
    found = list(faults(pathlib.Path(__file__).resolve().parent.parent))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Derives the fitted built-in profiles, src/cost/{h100_varlen,a100,h200_nccl,h100_sendrecv}.inc.

usage: tools/derive_built_in_profiles.py [--check] build/release/counterpoise FOLDER_OF_TABLES

Each is what `counterpoise calibrate` fits to a published table (hao-ai-lab/distca), without the residuals
of single rows, which would be the table itself. --check writes nothing and exits 1 where a file, or
h100_penalty.inc, is not byte for byte what its script writes; 77 where the tables are absent.
"""
import json
import pathlib
import subprocess
import sys

HEADER = "// SPDX-License-Identifier: Apache-2.0\n// Written by tools/derive_built_in_profiles.py.\n"
SOURCE = "fitted to {table} of hao-ai-lab/distca (its README: Apache-2.0)"
BUILT_IN = [
    ("h100-varlen", "--table", "h100_varlen_causal_forward.psv", "NVIDIA H100",
     "FlashAttention varlen causal forward, 16-bit, 64 query and 4 kv heads of 128"),
    ("a100", "--table", "a100_attention_forward_backward.csv", "NVIDIA A100 SXM 80GB",
     "causal attention over a context-parallel group, 16-bit, heads of 128, forward and backward"),
    ("h200-nccl", "--links-table", "h200_nccl_8gpu_node.csv", "8 NVIDIA H200 in one node", None),
    ("h100-sendrecv", "--links-table", "h100_sendrecv.csv", "2 NVIDIA H100 SXM in one node", None),
]
TOOLS = pathlib.Path(__file__).resolve().parent
COST = TOOLS.parent / "src/cost"


def rounded(value):
    """Eight digits: more than any table was measured to, fewer than mathematical libraries differ in."""
    if isinstance(value, float):
        return float(f"{value:.8g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return value


def output_of(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def derive(binary, folder):
    """Text of each file, by name."""
    texts = {}
    for name, option, table, device, kernel in BUILT_IN:
        command = [binary, "calibrate", option, f"{folder}/{table}", "--name", name, "-o", "-"]
        if option == "--table":
            command += ["--neighbours", "off"]
        fitted = rounded(json.loads(output_of(command)))
        fitted["source"] = SOURCE.format(table=table)
        fitted["device"] = device
        if kernel:
            fitted["kernel"] = kernel
        texts[f"{name.replace('-', '_')}.inc"] = HEADER + 'R"json(' + json.dumps(fitted) + ')json"\n'
    return texts


def check(texts, folder):
    penalty = [sys.executable, str(TOOLS / "derive_h100_penalty.py"), f"{folder}/{BUILT_IN[0][2]}"]
    texts["h100_penalty.inc"] = output_of(penalty)
    differing = [name for name, text in texts.items() if (COST / name).read_text() != text]
    for name in differing:
        print(f"src/cost/{name} is not what its script derives from {folder}; rerun it", file=sys.stderr)
    return 1 if differing else 0


def main(arguments):
    checking = "--check" in arguments
    binary, folder = [one for one in arguments if one != "--check"]
    if checking and not pathlib.Path(folder).is_dir():
        print(f"skipped: {folder} is absent")
        return 77
    texts = derive(binary, folder)
    if checking:
        return check(texts, folder)
    for name, text in texts.items():
        (COST / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

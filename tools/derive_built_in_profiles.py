#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Derives the fitted built-in profiles, src/cost/{h100_varlen,a100,h200_nccl,h100_sendrecv}.inc.

usage: tools/derive_built_in_profiles.py build/release/counterpoise FOLDER_OF_TABLES

Each is what `counterpoise calibrate` fits to a published table (hao-ai-lab/distca), without the residuals
of single rows, which would be the table itself.
"""
import json
import subprocess
import sys

SOURCE = "fitted to {table} of hao-ai-lab/distca (its README: Apache-2.0)"
BUILT_IN = [
    ("h100-varlen", "--table", "h100_varlen_causal_forward.psv", "NVIDIA H100",
     "FlashAttention varlen causal forward, 16-bit, 64 query and 4 kv heads of 128"),
    ("a100", "--table", "a100_attention_forward_backward.csv", "NVIDIA A100 SXM 80GB",
     "causal attention over a context-parallel group, 16-bit, heads of 128, forward and backward"),
    ("h200-nccl", "--links-table", "h200_nccl_8gpu_node.csv", "8 NVIDIA H200 in one node", None),
    ("h100-sendrecv", "--links-table", "h100_sendrecv.csv", "2 NVIDIA H100 SXM in one node", None),
]

binary, folder = sys.argv[1:]
for name, option, table, device, kernel in BUILT_IN:
    command = [binary, "calibrate", option, f"{folder}/{table}", "--name", name, "-o", "-"]
    if option == "--table":
        command += ["--neighbours", "off"]
    fitted = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    fitted["source"] = SOURCE.format(table=table)
    fitted["device"] = device
    if kernel:
        fitted["kernel"] = kernel
    with open(f"src/cost/{name.replace('-', '_')}.inc", "w") as out:
        out.write("// SPDX-License-Identifier: Apache-2.0\n// Written by tools/derive_built_in_profiles.py.\n")
        out.write('R"json(' + json.dumps(fitted) + ')json"\n')

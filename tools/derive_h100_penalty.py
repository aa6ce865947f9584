#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Derives src/cost/h100_penalty.inc: what cutting a document into c shares costs on an H100.

usage: tools/derive_h100_penalty.py h100_varlen_causal_forward.psv > src/cost/h100_penalty.inc

The table times FlashAttention varlen causal forward of 32,768 tokens in equal documents of L, whole
(cp = 1) and as the share of one of c ranks. penalty(L, c) = c t_c(L) / t_1(L), rows with tp = 1.
"""
import csv
import sys

rows = [r for r in csv.DictReader(open(sys.argv[1]), delimiter="|") if r["tp"] == "1"]
time = {(int(r["total_len"]) // int(r["batch_size"]), int(r["cp"])): float(r["latency(ms)"]) for r in rows}
lengths = sorted({length for length, _ in time})
cps = sorted({cp for _, cp in time})

print("// SPDX-License-Identifier: Apache-2.0")
print("// Written by tools/derive_h100_penalty.py from h100_varlen_causal_forward.psv (hao-ai-lab/distca).")
print("// Columns: cp = " + ", ".join(map(str, cps)) + ".")
for length in lengths:
    values = [cp * time[length, cp] / time[length, 1] for cp in cps]
    print(f"{{{length}, {{{', '.join(f'{v:.6g}' for v in values)}}}}},")

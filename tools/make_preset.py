#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Derives the built-in preset tables (src/lengths/preset_tables.inc) from public length sets.

usage: tools/make_preset.py DATA_FOLDER > src/lengths/preset_tables.inc

A table is a list of bins lo, hi, weight: documents of lo..hi tokens, equally likely. Bins end where the
documents or the sum of squared lengths reach the next 1/PARTS of their total, so that both the body and
the tail are resolved, and each bin's ends are set so that a uniform length has the mean and variance of
the documents it stands for, as far as the neighbours leave room. Agreement is printed on stderr; a moment
off by 1 % or more, or a quantile off by 3 % or more, is an error.
"""
import argparse
import csv
import json
import math
import pathlib
import re
import sys

PARTS = 64

PRESETS = [
    # name, file, reader, where the data comes from
    ("wlbllm_mix", "wlbllm_mix.json", "json",
     "99,519 documents of a 128K pretraining mix, hao-ai-lab/distca distca/simulator/data/dist_wlbllm.json"),
    ("wikipedia", "wikipedia_400k.txt", "text",
     "first 400,000 documents of Wikipedia, PKU-DAIR/Hetu-Galvatron (flexsp) galvatron/datasets/wikipedia.txt"),
    ("magi", "magi_histogram.csv", "binned",
     "histogram of 13.4M documents, SandAI-org/MagiAttention "
     "exps/dist_attn/benchmark/datasets/default/doc_length_distribution.csv"),
    ("mooncake", "mooncake_conversation.jsonl", "jsonl:input_length",
     "12,031 conversation prompts, kvcache-ai/Mooncake FAST25-release/traces/conversation_trace.jsonl"),
    ("azure_conv", "azure_conv_2023.csv", "csv:ContextTokens",
     "19,366 conversation prompts (2023), Azure/AzurePublicDataset data/AzureLLMInferenceTrace_conv.csv (CC-BY)"),
    ("openchat_sft", "openchat_sft.json", "json",
     "6,144 fine-tuning samples cut at 2048, imoneoi/multipack_sampler testdata.json"),
]


def read_bins(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))[1:]
    return [(*map(int, re.findall(r"\d+", row[0])), int(row[1])) for row in rows]


def read_lengths(path, reader):
    kind, _, field = reader.partition(":")
    with open(path) as file:
        if kind == "json":
            return json.load(file)
        if kind == "jsonl":
            return [json.loads(line)[field] for line in file]
        if kind == "csv":
            return [int(row[field]) for row in csv.DictReader(file)]
        return [int(line) for line in file]


def cuts_of(lengths):
    """Indices into the ascending lengths where a bin begins."""
    documents, squares = len(lengths), sum(length * length for length in lengths)
    cuts, seen, last = [0], 0, (0, 0)
    for i, length in enumerate(lengths):
        part = (i * PARTS // documents, seen * PARTS // squares)
        if part != last:
            # Equal lengths stay together, so that a cap such as 2048 becomes a bin of its own.
            begin = i
            while begin > 0 and lengths[begin - 1] == length:
                begin -= 1
            if begin > cuts[-1]:
                cuts.append(begin)
            last = part
        seen += length * length
    longest = lengths.index(lengths[-1])  # its own bin: the maximum is exact
    return cuts + [longest] * (longest > cuts[-1]) + [documents]


def bins_of(lengths):
    lengths = sorted(lengths)
    cuts = cuts_of(lengths)
    bins, free = [], 0
    for begin, end in zip(cuts, cuts[1:]):
        part = lengths[begin:end]
        mean = sum(part) / len(part)
        variance = sum((length - mean) ** 2 for length in part) / len(part)
        width = math.sqrt(12 * variance + 1)  # a uniform integer among n has the variance (n^2 - 1) / 12
        lo = max(free, part[0], round(mean - (width - 1) / 2))
        hi = min(part[-1], max(lo, round(2 * mean - lo)))
        bins.append((lo, hi, len(part)))
        free = hi + 1
    return bins


def moments(bins):
    total = sum(weight for _, _, weight in bins)
    first = sum(w * (lo + hi) / 2 for lo, hi, w in bins) / total
    second = sum(w * (((lo + hi) / 2) ** 2 + ((hi - lo + 1) ** 2 - 1) / 12) for lo, hi, w in bins) / total
    return first, second


def quantile(bins, p):
    """Smallest length that at least the share p does not exceed."""
    left = p * sum(weight for _, _, weight in bins)
    for lo, hi, weight in bins:
        if left <= weight:
            return lo + max(0, math.ceil(left / weight * (hi - lo + 1)) - 1)
        left -= weight
    return bins[-1][1]


def check(name, bins, exact):
    worst = 0
    for label, got, want, limit in (
        *((f"E[L^{k + 1}]", moments(bins)[k], moments(exact)[k], 0.01) for k in (0, 1)),
        *((f"p{100 * p:g}", quantile(bins, p), quantile(exact, p), 0.03) for p in (0.5, 0.9, 0.99, 0.999, 1)),
    ):
        error = got / want - 1
        worst = max(worst, abs(error) / limit)
        print(f"{name}: {label} {got:.6g} of {want:.6g} ({100 * error:+.3f} %)", file=sys.stderr)
    print(f"{name}: {len(bins)} bins", file=sys.stderr)
    return worst < 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path, help="folder with the length files")
    folder = parser.parse_args().data
    good = True
    print("// SPDX-License-Identifier: Apache-2.0")
    print("// Written by tools/make_preset.py; do not edit.")
    tables = []
    for name, file, reader, source in PRESETS:
        if reader == "binned":
            bins = exact = read_bins(folder / file)
        else:
            lengths = read_lengths(folder / file, reader)
            bins, exact = bins_of(lengths), [(length, length, 1) for length in sorted(lengths)]
        good = check(name, bins, exact) and good
        rows = [f"{{{lo}, {hi}, {weight}}}" for lo, hi, weight in bins]
        print(f"\nconstexpr LengthBin k_{name}[] = {{")
        line = "   "
        for row in rows:
            if len(line) + len(row) > 106:
                print(line)
                line = "   "
            line += f" {row},"
        print(line + "\n};")
        tables.append(f'    {{"{name}", "{source}", k_{name}}},')
    print("\nconstexpr Preset kPresets[] = {")
    print("\n".join(tables))
    print("};")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()

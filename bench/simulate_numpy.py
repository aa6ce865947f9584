# SPDX-License-Identifier: Apache-2.0
"""The simulation of `counterpoise simulate --profile h100-fa3` as a vectorised numpy script: the peer it is timed
against and a check of its statistics by other code.

Documents are drawn with replacement and laid end to end, windows are cut, priced and shuffled; group g of a step
sums its cp windows. No loop runs over documents or windows: cumulative sums, bincount, interp. Steps are handled in
chunks that fit the cache hierarchy, which is faster than one huge pass.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time

try:
    import numpy as np
except ImportError:
    print("skipped: needs numpy (Debian: python3-numpy)")
    sys.exit(77)

# FlashAttention-3 forward, causal, head_dim 128, 16-bit, H100 (arXiv 2407.08608): tokens, TFLOP/s.
CURVE_LENGTH = np.array([512, 1024, 2048, 4096, 8192, 16384.0])
CURVE_TFLOPS = np.array([292, 423, 521, 579, 602, 616.0])


def read_penalty(path):
    """c * t_c(L) / t_1(L) from the tp = 1 rows of the varlen table; {cp: (log lengths, penalties)}."""
    rows = {}
    with open(path) as table:
        names = table.readline().strip().split("|")
        for line in table:
            row = dict(zip(names, line.strip().split("|")))
            if int(row["tp"]) == 1:
                length = int(row["total_len"]) // int(row["batch_size"])
                rows[(length, int(row["cp"]))] = float(row["total_latency(ms)"])
    lengths = sorted({length for length, cp in rows})
    log_lengths = np.log(lengths)
    return {cp: (log_lengths, np.array([cp * rows[(l, cp)] / rows[(l, 1)] for l in lengths])) for cp in (1, 2, 4, 8)}


def piece_time(length, log_length, cp, penalty):
    """Seconds of one rank's share of each piece, one head of 128."""
    tflops = np.interp(log_length, np.log(CURVE_LENGTH), CURVE_TFLOPS)
    whole = length * (length + 1) / 2 * 4 * 128 / (tflops * 1e12)
    table_cp = min(cp, 8)
    shift = math.log(8 / cp) if cp > 8 else 0.0  # penalty(8L/c, 8) beyond the table
    return whole / cp * np.interp(log_length + shift, *penalty[table_cp])


def window_costs(lengths, windows, window, cps, penalty, random):
    """Cost of each of `windows` windows at each cp: array [cp][window]."""
    tokens = windows * window
    mean = lengths.mean()
    drawn = random.choice(lengths, int(tokens / mean * 1.02) + 1000)
    ends = np.cumsum(drawn)
    while ends[-1] < tokens:
        more = random.choice(lengths, 1000)
        ends = np.concatenate([ends, ends[-1] + np.cumsum(more)])
    edges = np.arange(window, tokens + 1, window)
    cuts = np.concatenate([ends[: np.searchsorted(ends, tokens)], edges])
    cuts.sort(kind="stable")
    pieces = np.diff(cuts, prepend=0)
    cuts, pieces = cuts[pieces > 0], pieces[pieces > 0]
    owner = (cuts - 1) // window
    length = pieces.astype(float)
    log_length = np.log(length)
    return np.stack([np.bincount(owner, piece_time(length, log_length, cp, penalty), windows) for cp in cps])


def simulate(lengths, ranks, cps, window, steps, penalty, seed, chunk_steps=500):
    random = np.random.default_rng(seed)
    costs = np.concatenate([window_costs(lengths, min(chunk_steps, steps - s) * ranks, window, cps, penalty, random)
                            for s in range(0, steps, chunk_steps)], axis=1)
    costs = costs[:, random.permutation(costs.shape[1])]
    return [statistics(costs[j].reshape(steps, ranks // cp, cp)) for j, cp in enumerate(cps)]


def statistics(windows):
    """The statistics of one CP degree from window costs [step, group, window]."""
    times = windows.sum(axis=2)
    high, low, mean = times.max(axis=1), times.min(axis=1), times.mean(axis=1)
    ratio = high / low
    return {
        "mean": mean.mean(),
        "variance": times.var(axis=1, ddof=1).mean(),
        "max_over_min_p50": np.median(ratio),
        "max_over_min_p90": np.quantile(ratio, 0.9),
        "share_below_2": (ratio < 2).mean(),
        "max_over_mean_mean": (high / mean).mean(),
        "slowdown_step": high.sum() / mean.sum(),
        "slowdown_micro_batch": windows.max(axis=1).sum() / mean.sum(),
    }


def run_binary(binary, args):
    command = [binary, "simulate", args.lengths, "--ranks", str(args.ranks), "--cp", ",".join(map(str, args.cp)),
               "--window", str(args.window), "--steps", str(args.steps), "--profile", "h100-fa3", "--no-laws", "--json", "-"]
    begin = time.perf_counter()
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output), time.perf_counter() - begin


def of_json(result):
    return {
        "mean": result["mean"],
        "variance": result["variance"],
        "max_over_min_p50": result["max_over_min"]["p50"],
        "max_over_min_p90": result["max_over_min"]["p90"],
        "share_below_2": result["max_over_min"]["share_below_2"],
        "max_over_mean_mean": result["max_over_mean"]["mean"],
        "slowdown_step": result["slowdown_step"],
        "slowdown_micro_batch": result["slowdown_micro_batch"],
    }


def worst_disagreement(ours, theirs_by_seed):
    """Largest distance from the mean of the numpy runs, in standard errors of a run's difference to it."""
    worst = (0.0, "")
    for j, result in enumerate(ours):
        for key, value in of_json(result).items():
            sample = np.array([run[j][key] for run in theirs_by_seed])
            error = max(sample.std(ddof=1) * math.sqrt(1 + 1 / len(sample)), 1e-9 * abs(value))
            distance = abs(value - sample.mean()) / error if error > 0 else 0.0
            worst = max(worst, (distance, f"{key} at cp={result['cp']}"))
    return worst


def cpu_name():
    with open("/proc/cpuinfo") as info:
        return next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "unknown CPU")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/release/counterpoise")
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--lengths", default=None, help="default: DATA/lengths/wikipedia_400k.txt")
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--cp", type=lambda text: [int(c) for c in text.split(",")], default=[1, 2, 4, 8, 16])
    parser.add_argument("--window", type=int, default=32768)
    parser.add_argument("--steps", type=int, default=10000)
    parser.add_argument("--repeats", type=int, default=3, help="interleaved timed runs of each")
    parser.add_argument("--seeds", type=int, default=12, help="numpy runs (of a tenth of the steps) for the agreement")
    parser.add_argument("--no-timing", action="store_true", help="check the agreement only")
    args = parser.parse_args()
    if args.seeds < 8:
        parser.error("--seeds must be at least 8: fewer runs do not tell how far apart chance puts two of them")
    args.lengths = args.lengths or f"{args.data}/lengths/wikipedia_400k.txt"
    table = f"{args.data}/calibration/h100_varlen_causal_forward.psv"
    for needed in (args.lengths, table):
        if not os.path.exists(needed):
            print(f"skipped: needs {needed}")
            return 77
    lengths = np.loadtxt(args.lengths, dtype=np.int64)
    penalty = read_penalty(table)
    print(f"{cpu_name()}; counterpoise simulates in portable code, numpy {np.__version__} as it chooses")

    if not args.no_timing:
        times = []
        for repeat in range(args.repeats):
            begin = time.perf_counter()
            simulate(lengths, args.ranks, args.cp, args.window, args.steps, penalty, seed=repeat)
            numpy_seconds = time.perf_counter() - begin
            _, seconds = run_binary(args.binary, args)
            times.append((seconds, numpy_seconds))
            print(f"run {repeat + 1}: counterpoise {seconds:.3f} s, numpy {numpy_seconds:.2f} s, "
                  f"ratio {numpy_seconds / seconds:.1f}")
        best = [min(column) for column in zip(*times)]
        ratios = sorted(n / c for c, n in times)
        print(f"best of {args.repeats}: counterpoise {best[0]:.3f} s, numpy {best[1]:.2f} s, ratio {best[1] / best[0]:.1f}; "
              f"median ratio {ratios[len(ratios) // 2]:.1f} "
              f"({args.steps} steps x {args.ranks} ranks x {len(args.cp)} CP degrees, numpy {np.__version__})")

    args.steps = max(args.steps // 10, 1)
    runs = [simulate(lengths, args.ranks, args.cp, args.window, args.steps, penalty, seed=100 + s) for s in range(args.seeds)]
    ours, _ = run_binary(args.binary, args)
    distance, where = worst_disagreement(ours["results"], runs)
    # Student's t with seeds - 1 degrees over 8 statistics x 5 degrees: 6 is beyond the 99.5 % point of the largest.
    limit = 6.0
    verdict = "agree" if distance <= limit else "DISAGREE"
    print(f"statistics {verdict}: the largest distance is {distance:.2f} standard errors ({where}; limit {limit:g})")
    return 0 if distance <= limit else 1


if __name__ == "__main__":
    sys.exit(main())

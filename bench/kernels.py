# SPDX-License-Identifier: Apache-2.0
"""Times the attention kernels against the multiply-add peak of this core, torch and (forward) ggml.

One process; every round runs peak, ours and the peers in turn, so that a busy neighbour slows all alike. Ratios are
taken from best-of-N on process CPU time (wall time with more than one thread); the median of the paired ratios
stands beside. Every timed output is checked against float64 attention in the same run. A packed batch also stands
beside its documents one by one (the dense rate weighted by area), a share of a document beside the whole, and several
threads beside one. Without options every case is run, in about 20 minutes; `--tokens 2048 --threads 1 --dtype float32`
takes one.
"""
import argparse
import ctypes
import json
import math
import os
import random
import sys
import time

import kernels_peers

I64, F32P, PTR = ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p


class Call(ctypes.Structure):
    _fields_ = [(n, I64) for n in "tokens heads kv_heads head_dim dtype causal tile_count".split()] + [
        ("tiles", ctypes.POINTER(I64)), ("threads", I64), ("isa", ctypes.c_char_p)] + [
        (n, PTR) for n in "q k v out dout lse dq dk dv".split()]


def load(path):
    library = ctypes.CDLL(os.path.abspath(path))
    for name in ("cp_last_error", "cp_cpu", "cp_isa"):
        getattr(library, name).restype = ctypes.c_char_p
    library.cp_peak.restype = library.cp_flops.restype = ctypes.c_double
    library.cp_peak.argtypes = library.cp_isa.argtypes = [ctypes.c_char_p, I64]
    library.cp_account.restype = I64
    return library


def isa_of(library, requested, dtype):
    """The set that runs for tensors of this type."""
    name = library.cp_isa(requested.encode(), int(dtype == "bfloat16"))
    if name is None:
        sys.exit("bench/kernels: " + library.cp_last_error().decode())
    return name.decode()


def peak_rate(library, isa):
    """Flops per second of a burst, on this thread's clock: the peer's threads may spin beside it. Tiles are warmed first: for a millisecond they run faster than they can keep up."""
    if isa == "amx":
        library.cp_peak(isa.encode(), 300000)
    begin = time.thread_time()
    flops = library.cp_peak(isa.encode(), 300000)
    return flops / (time.thread_time() - begin)


def document_tiles(lengths, heads):
    rows, tiles = 0, []
    for n in lengths:
        tiles.append((0, n, 0, n, 0, heads, rows, rows))
        rows += n
    return tiles


def zigzag_tiles(length, cp, rank, heads):
    """The rank's two chunks of a document cut into 2 cp, rows stored in place."""
    cut = [length * i // (2 * cp) for i in range(2 * cp + 1)]
    return [(cut[c], cut[c + 1], 0, cut[c + 1], 0, heads, cut[c], 0) for c in (rank, 2 * cp - 1 - rank)]


class Case:
    """One problem with its data, in plain buffers that both sides read."""

    def __init__(self, name, tiles, tokens, heads, kv_heads, dim, causal, dtype, backward, threads):
        self.name, self.tiles, self.tokens, self.dim = name, tiles, tokens, dim
        self.heads, self.kv_heads, self.causal = heads, kv_heads, causal
        self.dtype, self.backward, self.threads = dtype, backward, threads

    def beside(self):
        """What the case is measured against, and in which words."""
        with_threads = lambda name, tiles, tokens, threads: Case(
            name, tiles, tokens, self.heads, self.kv_heads, self.dim, self.causal, self.dtype, self.backward, threads)
        if self.threads > 1:
            return [with_threads(self.name, self.tiles, self.tokens, 1)], "of one thread"
        if any(t[:2] != t[2:4] for t in self.tiles):
            return [with_threads("whole", document_tiles([self.tokens], self.heads), self.tokens, 1)], "of the whole"
        if len(self.tiles) > 1:
            return [with_threads("one", document_tiles([t[1]], self.heads), t[1], 1)
                    for t in self.tiles], "of its documents"
        return [], None

    def describe(self):
        kind = "backward" if self.backward else "forward"
        return f"{self.name} d{self.dim} {'causal' if self.causal else 'full'} {kind} {self.dtype} x{self.threads}"


TILE_ISAS = {"avx512_bf16", "amx"}  # products of bfloat16 tiles
LEAST_ROUNDS = 3
SAMPLE_FLOPS = 2e9  # of a sample, at least: caches left cold by the others' samples must not decide it


def timed(clock, work, repeat=1):
    begin = clock()
    for _ in range(repeat):
        work()
    return (clock() - begin) / repeat


class Ours:
    def __init__(self, library, case, isa, np):
        self.library, self.case, rng = library, case, np.random.default_rng(1)
        shapes = {"q": case.heads, "dout": case.heads, "k": case.kv_heads, "v": case.kv_heads, "out": case.heads}
        self.arrays = {n: rng.standard_normal((case.tokens, h, case.dim), dtype=np.float32)
                       for n, h in shapes.items()}
        if case.dtype == "bfloat16":  # truncated to bfloat16; the exact values that both sides then see
            self.wide = {n: (a.view(np.uint32) & 0xFFFF0000).view(np.float32) for n, a in self.arrays.items()}
            self.arrays = {n: (a.view(np.uint32) >> 16).astype(np.uint16) for n, a in self.arrays.items()}
        else:
            self.wide = self.arrays
        self.arrays["lse"] = np.zeros((case.heads, case.tokens), np.float32)
        for n in "qkv":
            self.arrays["d" + n] = np.zeros(self.arrays[n].shape, np.float32)
        flat = [x for t in case.tiles for x in t]
        self.call = Call(case.tokens, case.heads, case.kv_heads, case.dim, 1 if case.dtype == "bfloat16" else 0,
                         int(case.causal), len(case.tiles), (I64 * len(flat))(*flat), case.threads, isa.encode(),
                         *[self.arrays[n].ctypes.data for n in "q k v out dout lse dq dk dv".split()])
        self.flops = library.cp_flops(ctypes.byref(self.call), int(case.backward))

    def run(self, name):
        if getattr(self.library, name)(ctypes.byref(self.call)):
            sys.exit("bench/kernels: " + self.library.cp_last_error().decode())

    def forward(self):
        self.run("cp_forward")

    def backward(self):
        self.run("cp_backward")

    def output(self, name, np):
        a = self.arrays[name]
        return (a.astype(np.uint32) << 16).view(np.float32) if a.dtype == np.uint16 else a


def reference(case, wide, np, head, rows):
    """float64 attention of a few rows of one head: out, dq."""
    results = {}
    scale = 1 / math.sqrt(case.dim)
    kv_head = head // (case.heads // case.kv_heads)
    for q0, q1, k0, k1, _, _, q_row, kv_row in case.tiles:
        k = wide["k"][kv_row:kv_row + k1 - k0, kv_head].astype(np.float64)
        v = wide["v"][kv_row:kv_row + k1 - k0, kv_head].astype(np.float64)
        for row in rows:
            if not q_row <= row < q_row + q1 - q0:
                continue
            position = q0 + row - q_row
            s = k @ wide["q"][row, head].astype(np.float64) * scale
            if case.causal:
                s[max(0, position + 1 - k0):] = -np.inf
            p = np.exp(s - s.max())
            p /= p.sum()
            out, dp = p @ v, v @ wide["dout"][row, head].astype(np.float64)
            results[row] = (out, (p * (dp - p @ dp)) @ k * scale)
    return results


def sampled_reference(case, wide, np):
    """float64 out and dq of sampled rows: {(row, head): (out, dq)}."""
    rows = sorted({t[6] + random.randrange(t[1] - t[0]) for t in random.sample(case.tiles, min(6, len(case.tiles)))} |
                  {random.randrange(case.tokens) for _ in range(6)})
    return {(row, head): results for head in {0, case.heads - 1}
            for row, results in reference(case, wide, np, head, rows).items()}


def largest_error(expected, np, *actual):
    """Of out (and dq) over the sampled rows, relative to the largest magnitude; NaN where there is one."""
    return float(np.max([np.abs(a[at] - e).max() / max(1e-3, np.abs(e).max())
                         for at, tensors in expected.items() for a, e in zip(actual, tensors)]))


def error_limit(case):
    return 2e-2 if case.dtype == "bfloat16" else 2e-5


def right_and_wrong(peers, expected, limit, np):
    """The peers whose output is right, and the errors of the others: those are not timed."""
    errors = {name: largest_error(expected, np, peer.output()) for name, peer in peers.items()}
    right = {name: peer for name, peer in peers.items() if errors[name] <= limit}
    return right, {name: error for name, error in errors.items() if name not in right}


def warmed(library, case, isa, np):
    ours = Ours(library, case, isa, np)
    ours.forward()
    if case.backward:
        ours.backward()
    return ours


def median(values):
    return sorted(values)[len(values) // 2] if values else None


def against(samples, family):
    """The peer of this family ("torch", "torch, masked") with the best sample, its rate, and our ratios to it."""
    names = [name for name in samples if name.split(",")[0] == family]
    name = max(names, key=lambda name: max(samples[name]), default=None)
    best = max(samples[name]) if name else None
    return {family: name, f"{family}_gflops": best / 1e9 if name else None,
            f"times_{family}": max(samples["ours"]) / best if name else None,
            f"times_{family}_median": median([o / p for o, p in zip(samples["ours"], samples.get(name, []))])}


def rounds_of(args):
    """Until the rounds or the seconds of a case are used up."""
    begin = time.perf_counter()
    for i in range(args.rounds):
        if i >= LEAST_ROUNDS and time.perf_counter() - begin > args.seconds:
            return
        yield i


def measure(library, case, isa, args, np, torch, ggml):
    ours = warmed(library, case, isa, np)
    expected = sampled_reference(case, ours.wide, np)
    error = largest_error(expected, np, ours.output("out", np), *([ours.arrays["dq"]] if case.backward else []))
    peers, wrong = right_and_wrong(kernels_peers.peers_of(torch, ggml, case, ours, np), expected, error_limit(case), np)
    parts, beside = case.beside()
    parts = [warmed(library, part, isa, np) for part in parts]
    clock = time.process_time if case.threads == 1 else time.perf_counter
    run = "backward" if case.backward else "forward"
    repeat = math.ceil(SAMPLE_FLOPS / ours.flops)
    samples = {name: [] for name in ["peak", "ours", "parts", *peers]}
    for _ in rounds_of(args):
        samples["peak"].append(peak_rate(library, isa))
        samples["ours"].append(ours.flops / timed(clock, getattr(ours, run), repeat))
        if parts:
            samples["parts"].append([timed(clock, getattr(part, run), repeat) for part in parts])
        for name, peer in peers.items():
            samples[name].append(ours.flops / timed(clock, getattr(peer, run), repeat))
    peak = max(samples["peak"]) * case.threads
    best = max(samples["ours"])
    part_rate = lambda seconds: sum(part.flops for part in parts) / sum(seconds)
    return {
        "case": case.name, "head_dim": case.dim, "heads": case.heads, "kv_heads": case.kv_heads,
        "mask": "causal" if case.causal else "full", "pass": "backward" if case.backward else "forward",
        "dtype": case.dtype, "isa": isa, "threads": case.threads, "rounds": len(samples["ours"]), "peak_gflops": peak / 1e9,
        "gflops": best / 1e9, "of_peak": best / peak,
        "of_peak_median": median([o / p / case.threads for o, p in zip(samples["ours"], samples["peak"])]),
        **against(samples, "torch"), **against(samples, "ggml"), "wrong_peers": wrong,
        "beside": beside,
        "of_beside": best / part_rate([min(s) for s in zip(*samples["parts"])]) if parts else None,
        "of_beside_median": median([o / part_rate(s) for o, s in zip(samples["ours"], samples["parts"])]),
        "error": error, "correct": error <= error_limit(case),
    }


def account(library, case, isa, rounds, np):
    """The peak, the best CPU seconds of a plain run, and of every part its name, its least seconds in a run that times
    its parts, and its flops."""
    ours, room = warmed(library, case, isa, np), 64
    names, seconds, flops = (ctypes.c_char_p * room)(), (ctypes.c_double * room)(), (ctypes.c_double * room)()
    peak, whole, parts = 0, math.inf, {}
    run = ours.backward if case.backward else ours.forward
    for _ in range(rounds):
        peak = max(peak, peak_rate(library, isa))
        run()  # so that both of the next find their data where a run leaves it
        whole = min(whole, timed(time.process_time, run))
        count = library.cp_account(ctypes.byref(ours.call), int(case.backward), room, names, seconds, flops)
        for i in range(count):
            least = parts.get(names[i], (math.inf,))[0]
            parts[names[i]] = (min(least, seconds[i]), flops[i])
    return peak, whole, [(name.decode(), *part) for name, part in parts.items()]


def print_account(case, peak, whole, parts, file):
    products = sum(flops for _, _, flops in parts)
    print(f"\n{case.describe()}: {whole * 1e3:.2f} ms, {products / whole / peak:.1%} of {peak / 1e9:.1f} GF/s\n"
          f"  {'part':45} {'of time':>8} {'of peak':>8} {'lost':>7}", file=file)
    for name, seconds, flops in sorted(parts, key=lambda part: -part[1]):
        at_peak = flops / peak
        print(f"  {name:45} {seconds / whole:8.1%} {f'{at_peak / seconds:8.1%}' if flops else '        '} "
              f"{(seconds - at_peak) / whole:7.1%}", file=file)
    total = sum(seconds for _, seconds, _ in parts)
    print(f"  {'sum':45} {total / whole:8.1%} {'':8} {(total - products / peak) / whole:7.1%}", file=file)


def cases_of(args):
    for threads in args.threads:
        for dim in args.head_dim:
            for backward in {"forward": [False], "backward": [True], "both": [False, True]}[args.passes]:
                for causal in {"causal": [True], "full": [False], "both": [False, True]}[args.mask]:
                    for dtype in args.dtype:
                        common = (args.heads, args.kv_heads or args.heads, dim, causal, dtype, backward, threads)
                        for n in args.tokens:
                            yield Case(f"S={n}", document_tiles([n], args.heads), n, *common)
                        if args.documents:
                            yield Case(f"{len(args.documents)} documents", document_tiles(args.documents, args.heads),
                                       sum(args.documents), *common)
                        if args.zigzag and causal:
                            for n in args.tokens:
                                for rank in (0, args.zigzag // 2, args.zigzag - 1):
                                    yield Case(f"S={n} rank {rank}/{args.zigzag}",
                                               zigzag_tiles(n, args.zigzag, rank, args.heads), n, *common)


def lengths_from(text):
    """A comma-separated list, or FILE[:tokens] with a JSON list of lengths, cut at 8192."""
    if text[0].isdigit():
        return [int(x) for x in text.split(",")]
    name, _, limit = text.partition(":")
    lengths, total = [], 0
    for n in random.Random(1).sample(json.load(open(name)), 1000):
        lengths.append(min(n, 8192))
        total += lengths[-1]
        if total >= int(limit or 65536):
            break
    return lengths


def beside_text(row):
    text = f"  {row['of_beside']:.2f} {row['beside']}, median {row['of_beside_median']:.2f}" if row["beside"] else ""
    text += "".join(f"; {row[family].replace(',', '')}" for family in ("torch", "ggml") if "," in (row[family] or ""))
    return text + "".join(f"; {name} WRONG by {error:.1e}" for name, error in row["wrong_peers"].items())


def head_text(head):
    text = f"{head['cpu']}, {head['isa']}; torch {head['torch']} ({head['torch_isa']})"
    if not head["ggml"]:
        return text + "; ggml None"
    wider = "avx512" in head["ggml_isa"] and not {"avx512", "amx"} & set(head["isa"].split(", "))
    return (f"{text}; ggml {head['ggml']} (built for {' '.join(head['ggml_isa'])}"
            f"{', and not held to the set of the others' if wider else ''})")


COLUMNS = (f"{'case':50} {'GF/s':>7} {'of peak':>8} {'median':>7} {'torch':>7} {'x torch':>8} {'median':>7} "
           f"{'ggml':>7} {'x ggml':>7} {'error':>8}  beside")


def row_text(case, row):
    number = lambda value, text: f"{'-' if value is None else format(value, text):>{text.split('.')[0]}}"
    return (f"{case.describe():50} {row['gflops']:7.1f} {row['of_peak']:8.1%} {row['of_peak_median']:7.1%} "
            f"{number(row['torch_gflops'], '7.1f')} {number(row['times_torch'], '8.2f')} "
            f"{number(row['times_torch_median'], '7.2f')} {number(row['ggml_gflops'], '7.1f')} "
            f"{number(row['times_ggml'], '7.2f')} "
            f"{row['error']:8.1e}{'' if row['correct'] else ' WRONG'}{beside_text(row)}")


def write_json(name, result):
    if name:
        out = sys.stdout if name == "-" else open(name, "w")
        json.dump(result, out, indent=1)
        out.write("\n")


def main():
    parser = argparse.ArgumentParser(prog="bench/kernels", description=__doc__)
    integers = lambda text: [int(x) for x in text.split(",")]
    names = lambda text: text.split(",")
    parser.add_argument("--library", help=argparse.SUPPRESS)
    parser.add_argument("--tokens", type=integers,
                        help="document lengths, one case each; default: 512,2048,8192,16384, none with --documents")
    parser.add_argument("--documents", type=lengths_from, help="one packed batch: lengths, or FILE.json[:tokens]")
    parser.add_argument("--zigzag", type=int, help="also the tiles of ranks of a zigzag split of this size")
    parser.add_argument("--head-dim", type=integers, default=[128, 64])
    parser.add_argument("--heads", type=int, default=1)
    parser.add_argument("--kv-heads", type=int)
    parser.add_argument("--mask", choices=["both", "causal", "full"], default="both")
    parser.add_argument("--passes", choices=["both", "forward", "backward"], default="both")
    parser.add_argument("--dtype", type=names, help="default: float32,bfloat16; float32 for --account")
    parser.add_argument("--threads", type=integers, help="default: 1,2; 1 for --account")
    parser.add_argument("--rounds", type=int, default=15, help="of a case, at most")
    parser.add_argument("--seconds", type=float, default=5,
                        help=f"of a case, after which no round begins; {LEAST_ROUNDS} rounds at least")
    parser.add_argument("--isa", default="auto")
    parser.add_argument("--account", action="store_true",
                        help="where the time of a run on one thread goes: its parts, each at its least, and what "
                             "each loses against the peak")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--no-ggml", action="store_true")
    parser.add_argument("--json", help="write the results to this file, - for stdout")
    args = parser.parse_args()
    args.tokens = args.tokens or ([] if args.documents else [512, 2048, 8192, 16384])
    args.dtype = args.dtype or (["float32"] if args.account else ["float32", "bfloat16"])
    args.threads = args.threads or ([1] if args.account or os.cpu_count() < 2 else [1, 2])

    library = load(args.library)
    isas = {dtype: isa_of(library, args.isa, dtype) for dtype in args.dtype}
    isa = ", ".join(sorted(set(isas.values())))
    if args.account and TILE_ISAS & set(isas.values()):
        sys.exit("bench/kernels: --account knows the parts of the vector kernels only; choose --isa avx512")
    if not {"avx512", *TILE_ISAS} & set(isas.values()):
        kernels_peers.hold_torch_to_avx2()
    try:
        import numpy as np
    except ImportError:
        sys.exit("bench/kernels: needs numpy (Debian: python3-numpy)")
    torch = None
    if not args.no_torch and not args.account:
        import torch
    ggml = None if args.no_ggml or args.account else kernels_peers.import_ggml(library)
    head = {"schema": "counterpoise/bench_kernels", "version": 1, "cpu": library.cp_cpu().decode(), "isa": isa,
            "torch": torch.__version__ if torch else None,
            "torch_isa": torch.backends.cpu.get_cpu_capability() if torch else None,
            "ggml": ggml.ggml_version().decode() if ggml else None,
            "ggml_isa": kernels_peers.ggml_features(ggml) if ggml else None}
    table = sys.stderr if args.json == "-" else sys.stdout
    print(head_text(head), file=table)
    if args.account:
        accounts = []
        for case in cases_of(args):
            peak, whole, parts = account(library, case, isas[case.dtype], args.rounds, np)
            print_account(case, peak, whole, parts, table)
            accounts.append({"case": case.describe(), "peak_gflops": peak / 1e9, "seconds": whole,
                             "parts": [{"part": n, "seconds": s, "flops": f} for n, s, f in parts]})
        return write_json(args.json, head | {"accounts": accounts})
    print(COLUMNS, file=table)
    rows = []
    for case in cases_of(args):
        rows.append(measure(library, case, isas[case.dtype], args, np, torch, ggml))
        print(row_text(case, rows[-1]), file=table, flush=True)
    write_json(args.json, head | {"results": rows})
    if not all(row["correct"] for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()

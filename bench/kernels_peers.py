# SPDX-License-Identifier: Apache-2.0
"""What bench/kernels times beside our kernels: torch, and ggml's attention on the CPU (forward only).

A peer has forward(), output() as [tokens, heads, dim], and backward() where it has one. It attends to whole documents;
those of a packed batch one after another.
"""
import math
import os
import sys


def hold_torch_to_avx2():
    """Before torch is imported: it reads these when it starts."""
    os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
    os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")
    os.environ.setdefault("MKL_ENABLE_INSTRUCTIONS", "AVX2")


def import_ggml(library):
    """The module, or none where it is not installed or was built for another CPU than this."""
    try:
        import ggml
    except (ImportError, OSError):
        return None
    if ggml.ggml_cpu_has_avx512() and library.cp_isa(b"avx512", 0) is None:
        print("bench/kernels: ggml was built for AVX-512, which this CPU lacks: going on without it", file=sys.stderr)
        return None
    return ggml


def ggml_features(ggml):
    """The instruction sets it was compiled for: it does not choose at run time."""
    names = ("avx2", "fma", "avx512", "avx512_bf16", "amx_int8", "neon", "sve")
    return [name for name in names if getattr(ggml, "ggml_cpu_has_" + name)()]


class Torch:
    """torch's scaled_dot_product_attention; several documents one after another."""

    def __init__(self, torch, case, ours):
        self.torch, self.case = torch, case
        dtype = torch.bfloat16 if case.dtype == "bfloat16" else torch.float32
        tensor = lambda n: torch.from_numpy(ours.wide[n]).to(dtype)
        self.documents = []
        for _, length, _, _, _, _, row, _ in case.tiles:
            part = slice(row, row + length)
            q, k, v, dout = (tensor(n)[part].transpose(0, 1).unsqueeze(0).contiguous() for n in ("q", "k", "v", "dout"))
            for t in (q, k, v):
                t.requires_grad_(case.backward)
            self.documents.append((q, k, v, dout))

    def attend(self, q, k, v):
        return self.torch.nn.functional.scaled_dot_product_attention(
            q, k, v, is_causal=self.case.causal, enable_gqa=self.case.heads != self.case.kv_heads)

    def forward(self):
        with self.torch.no_grad():
            for q, k, v, _ in self.documents:
                self.attend(q, k, v)

    def output(self):
        with self.torch.no_grad():
            results = [self.attend(q, k, v).squeeze(0).transpose(0, 1) for q, k, v, _ in self.documents]
            return self.torch.cat(results).float().numpy()

    def prepare_backward(self):
        self.outputs = [self.attend(q, k, v) for q, k, v, _ in self.documents]

    def backward(self):
        for out, (q, k, v, dout) in zip(self.outputs, self.documents):
            self.torch.autograd.grad(out, (q, k, v), dout, retain_graph=True)


class MaskedTorch(Torch):
    """Several documents as one batch under a mask: all pairs of the batch are computed."""
    LIMIT = 16384  # tokens: the mask is quadratic

    def __init__(self, torch, case, ours):
        super().__init__(torch, case, ours)
        tokens = sum(t[1] for t in case.tiles)
        document = torch.repeat_interleave(torch.arange(len(case.tiles)), torch.tensor([t[1] for t in case.tiles]))
        self.mask = document[:, None] == document[None, :]
        if case.causal:
            self.mask &= torch.ones(tokens, tokens, dtype=torch.bool).tril()
        self.documents = [[torch.cat([d[i].detach() for d in self.documents], dim=2) for i in range(4)]]
        for t in self.documents[0][:3]:
            t.requires_grad_(case.backward)

    def attend(self, q, k, v):
        return self.torch.nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=self.mask, enable_gqa=self.case.heads != self.case.kv_heads)


class Ggml:
    """ggml's flash_attn_ext; one graph that has the documents one after another, in memory of its own.

    Where tensors are bfloat16 its keys and values are float16, which holds all but the smallest: its bfloat16 ones take
    another path that is several times slower.
    """
    NARROW = "F16"
    LIMIT = 2**31  # bytes of masks, or of scores

    def __init__(self, ggml, case, ours, np):
        self.ggml, self.case, self.np, self.masks, self.values = ggml, case, np, {}, []
        self.kind = "F32" if case.dtype == "float32" else self.NARROW
        self.scale = 1 / math.sqrt(case.dim)
        self.backend = ggml.ggml_backend_cpu_init()
        size = 8 * len(case.tiles)  # at most so many nodes, and so many leaves
        params = ggml.ggml_init_params(
            mem_size=2 * size * ggml.ggml_tensor_overhead() + ggml.ggml_graph_overhead_custom(size, False),
            mem_buffer=None, no_alloc=True)
        self.inputs, self.nodes = ggml.ggml_init(params), ggml.ggml_init(params)
        self.outputs = [self.document(ours, slice(t[6], t[6] + t[1])) for t in case.tiles]
        self.fill_inputs()
        self.build_graph(size)
        self.make_plan(case.threads)

    def fill_inputs(self):
        self.buffer = self.ggml.ggml_backend_alloc_ctx_tensors(self.inputs, self.backend)
        for tensor, array in self.values:
            self.ggml.ggml_backend_tensor_set(tensor, array.ctypes.data, 0, array.nbytes)
        self.values = []

    def build_graph(self, size):
        ggml = self.ggml
        self.graph = ggml.ggml_new_graph_custom(self.nodes, size, False)
        for out in self.outputs:
            ggml.ggml_set_output(out)
            ggml.ggml_build_forward_expand(self.graph, out)
        # Asked of the backend: the package's ggml_backend_cpu_buffer_type cuts the pointer to 32 bits.
        self.allocator = ggml.ggml_gallocr_new(ggml.ggml_backend_get_default_buffer_type(self.backend))
        if not ggml.ggml_gallocr_alloc_graph(self.allocator, self.graph):
            raise MemoryError("bench/kernels: no memory for ggml's graph")

    def make_plan(self, threads):
        """With work memory on a cache line: its backend's own may lie across, which costs a quarter of the speed."""
        self.plan = self.ggml.ggml_graph_plan(self.graph, threads, None)
        self.work = self.np.empty(self.plan.work_size + 64, self.np.uint8)
        aligned = self.work[-self.work.ctypes.data % 64:]
        self.plan.work_data = aligned.ctypes.data_as(type(self.plan.work_data))

    def __del__(self):
        self.ggml.ggml_gallocr_free(self.allocator)
        self.ggml.ggml_backend_buffer_free(self.buffer)
        self.ggml.ggml_free(self.nodes)
        self.ggml.ggml_free(self.inputs)
        self.ggml.ggml_backend_free(self.backend)

    @classmethod
    def fits(cls, case):
        return not case.causal or sum(2 * n * n for n in {t[1] for t in case.tiles}) <= cls.LIMIT

    def input(self, kind, array):
        """A tensor of this type with these values; its first dimension is the array's last."""
        np = self.np
        if kind == "BF16":
            array = (array.view(np.uint32) >> 16).astype(np.uint16)
        array = np.ascontiguousarray(array, dtype=np.float16 if kind == "F16" else None)
        tensor = self.ggml.ggml_new_tensor_3d(self.inputs, getattr(self.ggml, "GGML_TYPE_" + kind), *array.shape[::-1])
        self.values.append((tensor, array))
        return tensor

    def mask(self, length):
        """0 for what is seen, -infinity elsewhere; documents of one length share it."""
        if not self.case.causal:
            return None
        if length not in self.masks:
            hidden = self.np.full((1, length, length), -self.np.inf, self.np.float16)
            self.masks[length] = self.input("F16", self.np.triu(hidden, 1))
        return self.masks[length]

    def document(self, ours, part):
        q, k, v = (ours.wide[n][part].transpose(1, 0, 2) for n in "qkv")
        return self.attend(self.input("F32", q), self.input(self.kind, k), self.input(self.kind, self.stored(v)),
                           self.mask(q.shape[1]))

    def stored(self, v):
        return v

    def attend(self, q, k, v, mask):
        return self.ggml.ggml_flash_attn_ext(self.nodes, q, k, v, mask, self.scale, 0.0, 0.0)

    def forward(self):
        if self.ggml.ggml_graph_compute(self.graph, self.plan) != self.ggml.GGML_STATUS_SUCCESS:
            sys.exit("bench/kernels: ggml could not compute its graph")

    def rows_first(self, out):
        return out

    def output(self):
        results = []
        for tensor in self.outputs:
            out = self.np.empty(tensor.contents.ne[2::-1], self.np.float32)
            self.ggml.ggml_backend_tensor_get(tensor, out.ctypes.data, 0, out.nbytes)
            results.append(self.rows_first(out))
        return self.np.concatenate(results)


class PlainGgml(Ggml):
    """Scores, softmax and sums as three operations of the graph, all scores of a document in memory at once."""
    NARROW = "BF16"

    @classmethod
    def fits(cls, case):
        longest = max(t[1] for t in case.tiles)
        return super().fits(case) and 4 * case.heads * longest * longest <= cls.LIMIT

    def stored(self, v):
        return v.transpose(0, 2, 1)  # as its users keep the values for this graph

    def attend(self, q, k, v, mask):
        scores = self.ggml.ggml_mul_mat(self.nodes, k, q)
        return self.ggml.ggml_mul_mat(
            self.nodes, v, self.ggml.ggml_soft_max_ext(self.nodes, scores, mask, self.scale, 0.0))

    def rows_first(self, out):
        return out.transpose(1, 0, 2)


def peers_of(torch, ggml, case, ours, np):
    """Names and peers, ready to be timed; none for tiles that are no whole documents."""
    if any(t[:2] != t[2:4] or t[6] != t[7] for t in case.tiles):
        return {}
    peers = {}
    if torch is not None:
        torch.set_num_threads(case.threads)
        peers["torch"] = Torch(torch, case, ours)
        if len(case.tiles) > 1 and case.tokens <= MaskedTorch.LIMIT:
            peers["torch, masked"] = MaskedTorch(torch, case, ours)
    if ggml is not None and not case.backward:
        kinds = {"ggml": Ggml, "ggml, mul_mat": PlainGgml}
        peers |= {name: kind(ggml, case, ours, np) for name, kind in kinds.items() if kind.fits(case)}
    for peer in peers.values():
        peer.forward()
        if case.backward:
            peer.prepare_backward()
            peer.backward()
    return peers

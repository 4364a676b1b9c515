"""Times of whole models of PyTorch: by `torch.compile(…, backend="tiledialect")`, and by peers.

Every round runs all contestants in turn; the ratio to a peer is the median of the rounds', above 1
where this package is faster. A training step is forward, the mean of squares as a loss, which is
compiled with the model, and backward. The first call compiles; its seconds are of a process in
which other models may have been compiled before. The error is the largest difference from eager
PyTorch over the largest element: of the loss in training. A whole step (`--kind step`) also changes
the parameters, by descent with momentum, and is one graph where it is compiled.

`--kernels` measures the kernels on an NVIDIA GPU beside CUDA graphs of eager PyTorch and of
Inductor, in f32 without TF32. Parameters are on the device. `--cuda` measures whole calls there:
inputs and outputs of all contestants are tensors of the host, which peers copy at each call. Their
gradients stay on the GPU, those of this package go to the host; statistics of normalizations stay
on the GPU with all of them. `--onnx` runs the models that PyTorch exports by `td.onnx.load`, as
onnxruntime runs them.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import argparse
import copy
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import torch
from onnx_export import exported
from timing import ROUNDS, Contestant, interleaved, ratio
from torch import nn
from torch.func import functional_call, grad_and_value

import tiledialect as td

Make = Callable[[int, bool], tuple[nn.Module, tuple[torch.Tensor, ...]]]
"""Makes a model and its inputs for a batch, in small sizes or in full ones."""


def _vision(name: str) -> Make:
    def make(batch: int, is_small: bool) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
        import torchvision

        size = 64 if is_small else 224
        if name == "vit_b_16" and is_small:
            model = torchvision.models.VisionTransformer(32, 8, 2, 2, 32, 64)
            return model, (torch.randn(batch, 3, 32, 32),)
        return getattr(torchvision.models, name)(), (torch.randn(batch, 3, size, size),)

    return make


class Plain(nn.Module):
    """A model of `transformers` whose result is a tensor."""

    def __init__(self, model: nn.Module, name: str):
        super().__init__()
        self.model = model
        self.options = {} if name == "bert" else {"use_cache": False}

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.model(words, return_dict=False, **self.options)[0]


class Decoding(nn.Module):
    """A step of decoding: a word after others, whose keys and values the model keeps."""

    def __init__(self, model: nn.Module, batch: int, length: int):
        from transformers import StaticCache

        super().__init__()
        self.model = model
        config: Any = model.config
        self.cache: Any = StaticCache(config=config, max_cache_len=length + 1)
        width = config.hidden_size // config.num_attention_heads
        heads = getattr(config, "num_key_value_heads", config.num_attention_heads)
        self.cache.early_initialization(batch, heads, width, torch.float32, torch.device("cpu"))
        for k, layer in enumerate(self.cache.layers):
            nn.init.normal_(layer.keys)
            nn.init.normal_(layer.values)
            self.register_buffer(f"keys_{k}", layer.keys)
            self.register_buffer(f"values_{k}", layer.values)
        self.length = length

    def forward(self, word: torch.Tensor) -> torch.Tensor:
        for k, layer in enumerate(self.cache.layers):
            layer.keys, layer.values = self.get_buffer(f"keys_{k}"), self.get_buffer(f"values_{k}")
            layer.device = word.device
            layer.cumulative_length = torch.full((), self.length, device=word.device)
        return self.model(word, past_key_values=self.cache, return_dict=False)[0]


def _language(name: str, is_decoding: bool = False) -> Make:
    def make(batch: int, is_small: bool) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
        import transformers

        width, layers, vocabulary = (128, 2, 100) if is_small else (768, 12, 30000)
        length = 16 if is_small else LENGTHS[name]
        words = torch.randint(0, vocabulary, (batch, 1 if is_decoding else length))
        common: dict[str, Any] = {"vocab_size": vocabulary, "bos_token_id": 0, "eos_token_id": 0}
        sizes: dict[str, Any] = {
            "hidden_size": width,
            "num_hidden_layers": layers,
            "num_attention_heads": width // 64,
        }
        if name == "gpt2":
            own: dict[str, Any] = {"n_embd": width, "n_layer": layers, "n_head": width // 64}
            model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**common, **own))
        elif name == "bert":
            config = transformers.BertConfig(**common, **sizes, intermediate_size=4 * width)
            model = transformers.BertModel(config)
        else:
            heads: dict[str, Any] = {
                "num_key_value_heads": width // 128,
                "intermediate_size": 3 * width,
            }
            config = transformers.LlamaConfig(**common, **sizes, **heads)
            model = transformers.LlamaForCausalLM(config)
        module = Decoding(model, batch, length) if is_decoding else Plain(model, name)
        return module, (words,)

    return make


class UNet(nn.Module):
    """A U-Net of two levels."""

    def __init__(self, width: int):
        super().__init__()
        self.down = nn.ModuleList([_block(3, width), _block(width, 2 * width)])
        self.inner = _block(2 * width, 4 * width)
        self.grow = nn.ModuleList(
            [nn.ConvTranspose2d(2 * k * width, k * width, 2, 2) for k in (2, 1)]
        )
        self.up = nn.ModuleList([_block(2 * k * width, k * width) for k in (2, 1)])
        self.last = nn.Conv2d(width, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = []
        for block in self.down:
            x = block(x)
            kept.append(x)
            x = nn.functional.max_pool2d(x, 2)
        x = self.inner(x)
        for grow, block in zip(self.grow, self.up, strict=True):
            x = block(torch.cat([grow(x), kept.pop()], 1))
        return self.last(x)


def _block(features: int, width: int) -> nn.Module:
    parts: list[nn.Module] = []
    for n in (features, width):
        parts += [nn.Conv2d(n, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
    return nn.Sequential(*parts)


def _unet(batch: int, is_small: bool) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    size = 32 if is_small else 256
    return UNet(8 if is_small else 32), (torch.randn(batch, 3, size, size),)


class Loss(nn.Module):
    """A model in training, with a loss."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.model(*inputs).square().mean()


class Step(nn.Module):
    """A training step of a loss: gradients, and descent with momentum; one graph if compiled."""

    RATE, MOMENTUM = 0.01, 0.9

    def __init__(self, loss: Loss):
        super().__init__()
        self.loss = loss
        for k, parameter in enumerate(loss.parameters()):
            self.register_buffer(f"mean_{k}", torch.zeros_like(parameter))

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        """The loss before the step; calls are without gradients."""
        parameters = dict(self.loss.named_parameters())
        if torch.compiler.is_compiling():
            buffers = dict(self.loss.named_buffers())

            def run(*own: dict[str, Any]) -> torch.Tensor:
                return functional_call(self.loss, own, inputs)

            found, loss = grad_and_value(run)(parameters, buffers)
            gradients = [*found.values()]
        else:
            with torch.enable_grad():
                loss = self.loss(*inputs)
            own = [*parameters.values()]
            gradients = torch.autograd.grad(loss, own, allow_unused=True, materialize_grads=True)
        means = [self.get_buffer(f"mean_{k}") for k in range(len(gradients))]
        of_lists: Any = torch
        of_lists._foreach_mul_(means, self.MOMENTUM)
        of_lists._foreach_add_(means, gradients)
        of_lists._foreach_add_([*parameters.values()], means, alpha=-self.RATE)
        return loss.detach()


VISION = ("resnet18", "resnet50", "mobilenet_v3_small", "convnext_tiny", "vit_b_16")
LENGTHS = {"gpt2": 256, "bert": 128, "llama": 128}
MODELS: Mapping[str, Make] = {
    **{name: _vision(name) for name in VISION},
    **{name: _language(name) for name in LENGTHS},
    **{f"{name}_decoding": _language(name, True) for name in ("gpt2", "llama")},
    "unet": _unet,
}
PEERS = ("eager", "inductor", "onnxruntime")
CUDA_PEERS = ("eager", "inductor")


@dataclass(frozen=True)
class Case:
    """A model, its inputs, and whether it is trained: it gives the loss then."""

    model: nn.Module
    inputs: tuple[torch.Tensor, ...]
    is_training: bool

    def run(self, model: Any, device: str = "cpu") -> torch.Tensor:
        """The outputs of a call, in the memory of the host, after a backward pass if the model is
        trained."""
        inputs = (x.to(device) for x in self.inputs)
        if not self.is_training:
            with torch.no_grad():
                return model(*inputs).cpu()
        model.zero_grad()
        found = model(*inputs)
        found.backward()
        return found.detach().cpu()

    def peer(self, name: str, device: str) -> Contestant | None:
        """A contestant whose model is on a device; None if it cannot compute this."""
        if name == "onnxruntime":
            run = None if self.is_training else _by_onnxruntime(self.model, self.inputs)
            return None if run is None else Contestant(run)
        model: Any = copy.deepcopy(self.model).to(device)
        call = model if name == "eager" else torch.compile(model)
        finish = torch.cuda.synchronize if device == "cuda" else lambda: None
        return Contestant(lambda: self.run(call, device), finish)

    def cuda_graph(self, name: str) -> Contestant:
        """A contestant whose kernels run on a GPU as a graph, without launches by the host."""
        model = copy.deepcopy(self.model).cuda()
        call = model if name == "eager" else torch.compile(model)
        inputs = tuple(x.cuda() for x in self.inputs)
        stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()

        def run() -> None:
            found = call(*inputs)
            if self.is_training:
                model.zero_grad()
                found.backward()

        with torch.set_grad_enabled(self.is_training):
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                for _ in range(3):
                    run()
            torch.cuda.current_stream().wait_stream(stream)
            with torch.cuda.graph(graph):
                run()
        return Contestant(partial(_replayed, graph, (model, inputs)), torch.cuda.synchronize)


def _replayed(graph: torch.cuda.CUDAGraph, kept: Any) -> None:
    """Run the kernels of a graph; ``kept`` has the tensors that they read."""
    graph.replay()


@dataclass(frozen=True)
class KernelContestant(Contestant):
    """A compiled model whose kernels are timed by the device."""

    def seconds(self, calls: int) -> float:
        """Seconds of the kernels of a call, the median of several."""
        _, profile = td.torch.profile(self.run, repeat=calls)
        return sum(k.seconds for k in profile.kernels)


def _by_onnxruntime(model: nn.Module, inputs: tuple[torch.Tensor, ...]) -> Callable[[], Any] | None:
    try:
        import onnxruntime

        file = exported(model, inputs)
        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    except Exception as error:
        print(f"  no onnxruntime: {str(error).splitlines()[0]}")
        return None
    arrays = {i.name: x.numpy() for i, x in zip(session.get_inputs(), inputs, strict=True)}
    return lambda: session.run(None, arrays)


def _by_onnx(case: Case, options: argparse.Namespace) -> Callable[[], torch.Tensor]:
    """The exported model, by this package."""
    import onnx

    file = onnx.load_from_string(exported(case.model, case.inputs))
    model = td.onnx.load(file, device=options.device)
    arrays = [x.numpy() for x in case.inputs]

    def run() -> torch.Tensor:
        found = model(*arrays)
        return torch.from_numpy(found[0] if isinstance(found, tuple) else found)

    return run


def _by_compile(case: Case, options: argparse.Namespace) -> Callable[[], torch.Tensor]:
    model = copy.deepcopy(case.model)
    if not options.plain:
        model = td.torch.to_device(model, keep_updates=options.cuda)
    own = torch.compile(model, backend="tiledialect", options={"device": options.device})
    return lambda: case.run(own)


def _without_zeros(model: nn.Module) -> nn.Module:
    """The model with numbers in the place of zeros, which would hide errors.

    The last layer of a ViT begins with zeros, as do most biases.
    """
    for parameter in model.parameters():
        if not parameter.any():
            nn.init.normal_(parameter, std=0.02)
    return model


def _contestants(
    case: Case, own: Callable[[], Any], options: argparse.Namespace
) -> dict[str, Contestant]:
    if options.kernels:
        graphs = {peer: case.cuda_graph(peer) for peer in options.peers if peer in CUDA_PEERS}
        return {"tiledialect": KernelContestant(own), **graphs}
    names = [peer for peer in options.peers if peer in CUDA_PEERS or not options.cuda]
    found = {name: case.peer(name, "cuda" if options.cuda else "cpu") for name in names}
    peers = {name: peer for name, peer in found.items() if peer is not None}
    return {"tiledialect": Contestant(own), **peers}


KINDS: Mapping[str, Callable[[nn.Module], nn.Module]] = {
    "inference": lambda model: model,
    "training": Loss,
    "step": lambda model: Step(Loss(model)),
}
"""Makes what is compiled of a model, by what is measured."""


def line(name: str, batch: int, options: argparse.Namespace, kind: str) -> str:
    torch.manual_seed(0)
    torch._dynamo.reset()
    model, inputs = MODELS[name](batch, options.small)
    for part in model.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.0
    model = _without_zeros(model).train(kind != "inference")
    case = Case(KINDS[kind](model), inputs, kind == "training")
    own = (_by_onnx if options.onnx else _by_compile)(case, options)
    start = time.perf_counter()
    found = own()
    first = time.perf_counter() - start
    expected = case.run(copy.deepcopy(case.model))
    error = float((found - expected).abs().max() / expected.abs().max())
    contestants = _contestants(case, own, options)
    times = interleaved(contestants, options.rounds)
    ours = times["tiledialect"]
    ratios = [
        f"{peer} {median(times[peer]) * 1e3:.2f} ms ({ratio(ours, times[peer]):.2f})"
        for peer in options.peers
        if peer in times
    ]
    return (
        f"{name:20} {batch:3} {kind:9} first call {first:6.1f} s  {median(ours) * 1e3:9.2f} ms  "
        f"error {error:.0e}  {'  '.join(ratios)}"
    )


def main() -> None:
    """Measure the models of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", choices=[*MODELS], default=[*MODELS])
    parser.add_argument("--batch", nargs="+", type=int, default=[1])
    parser.add_argument("--kind", nargs="+", choices=[*KINDS], default=["inference"])
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=[*PEERS])
    parser.add_argument("--device", help="as for `td.compile`")
    parser.add_argument(
        "--small", action="store_true", help="small images, short and narrow models"
    )
    parser.add_argument("--kernels", action="store_true", help="time of kernels on a GPU of CUDA")
    parser.add_argument(
        "--cuda", action="store_true", help="time of calls on a GPU of CUDA, peers there, too"
    )
    parser.add_argument(
        "--onnx", action="store_true", help="run exported models by `td.onnx`; inference alone"
    )
    parser.add_argument(
        "--plain", action="store_true", help="without `to_device`: weights lie as PyTorch has them"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    warnings.simplefilter("ignore")
    warnings.simplefilter("always", td.TileWarning)
    for name in options.models:
        for batch in options.batch:
            for kind in options.kind:
                if kind == "inference" or not options.onnx:
                    print(line(name, batch, options, kind), flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Architectures of torchvision, timm and transformers as ONNX files, with random weights: networks that nobody tuned for.

    pip install torch torchvision timm transformers onnx onnxscript
    bench/torch_networks.py FOLDER [NAME...]
    bench/compare --zoo FOLDER

Writes FOLDER/NAME/model.onnx, inputs.npz and expected.npz, which PyTorch computed. What cannot be exported is left out,
with a message.
"""

import argparse
import pathlib
import sys
import warnings

import numpy as np
import torch

IMAGE = (1, 3, 224, 224)


class Selected(torch.nn.Module):
    """A network of which `select` takes one result."""

    def __init__(self, network, select):
        super().__init__()
        self.network = network
        self.select = select

    def forward(self, *inputs):
        return self.select(self.network, *inputs)


def vision(name, shape=IMAGE, select=None, **options):
    def make():
        import torchvision

        network = torchvision.models.get_model(name, weights=None, **options)
        return (Selected(network, select) if select else network), (torch.rand(*shape),)

    return make


def timm_model(name, size=224):
    def make():
        import timm

        return timm.create_model(name, pretrained=False), (torch.rand(1, 3, size, size),)

    return make


def transformer(kind, inputs, select=lambda network, x: network(x)[0], model="Model", **sizes):
    def make():
        import transformers

        config = getattr(transformers, kind + "Config")(**sizes)
        return Selected(getattr(transformers, kind + model)(config), select), (inputs(),)

    return make


def tokens(count=64):
    return torch.randint(0, 1000, (1, count))


def recurrent(kind):
    return lambda: (
        Selected(kind(128, 256, 2, bidirectional=True, batch_first=True), lambda network, x: network(x)[0]),
        (torch.rand(1, 100, 128),),
    )


SMALL = {"hidden_size": 256, "num_hidden_layers": 4, "intermediate_size": 1024, "vocab_size": 1000}


def without_cache(network, x):
    return network(x, use_cache=False)[0]


NETWORKS = {
    **{name: vision(name) for name in (
        "alexnet", "vgg16_bn", "squeezenet1_1", "densenet121", "resnext50_32x4d", "shufflenet_v2_x1_0", "mnasnet1_0",
        "regnet_y_400mf", "regnet_x_800mf", "convnext_tiny", "swin_t", "swin_v2_t", "maxvit_t", "efficientnet_v2_s", "resnet18",
    )},
    "googlenet": vision("googlenet", init_weights=False, transform_input=True),
    "inception_v3": vision("inception_v3", (1, 3, 299, 299), init_weights=False),
    "fcn_resnet50": vision("fcn_resnet50", select=lambda network, x: network(x)["out"], weights_backbone=None),
    "lraspp": vision("lraspp_mobilenet_v3_large", (1, 3, 320, 320), lambda network, x: network(x)["out"], weights_backbone=None),
    "r3d_18": vision("r3d_18", (1, 3, 8, 112, 112)),
    "mvit_v1_b": vision("mvit_v1_b", (1, 3, 16, 224, 224)),
    **{name: timm_model(name, size) for name, size in {
        "mobilevit_s": 256, "ghostnet_100": 224, "edgenext_small": 256, "repvgg_a0": 224, "hrnet_w18_small": 224,
        "poolformer_s12": 224, "mixer_s32_224": 224, "deit_tiny_patch16_224": 224, "coat_lite_tiny": 224,
        "efficientformer_l1": 224, "fastvit_t8": 256, "rexnet_100": 224, "levit_128s": 224, "res2net50_26w_4s": 224,
        "dm_nfnet_f0": 224, "tinynet_a": 192, "xcit_nano_12_p16_224": 224, "dla34": 224, "mobilenetv4_conv_small": 224,
        "hgnetv2_b0": 224,
    }.items()},
    "roberta": transformer("Roberta", tokens, num_attention_heads=4, **SMALL),
    "deberta": transformer("DebertaV2", tokens, num_attention_heads=4, relative_attention=True, pos_att_type=["p2c", "c2p"],
                           position_buckets=32, **SMALL),
    "llama": transformer("Llama", tokens, without_cache, num_attention_heads=8, num_key_value_heads=2, **SMALL),
    "qwen3": transformer("Qwen3", tokens, without_cache, num_attention_heads=8, num_key_value_heads=2, head_dim=32, **SMALL),
    "mamba": transformer("Mamba", lambda: tokens(32), without_cache, hidden_size=128, num_hidden_layers=2, vocab_size=1000),
    "whisper_encoder": transformer(
        "Whisper", lambda: torch.rand(1, 80, 3000), lambda network, x: network.encoder(x)[0], d_model=128, encoder_layers=2,
        decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=512, decoder_ffn_dim=512),
    "wav2vec2": transformer("Wav2Vec2", lambda: torch.rand(1, 16000), hidden_size=128, num_hidden_layers=2,
                            num_attention_heads=4, intermediate_size=512),
    "segformer": transformer("Segformer", lambda: torch.rand(1, 3, 256, 256), model="ForSemanticSegmentation"),
    "dinov2": transformer("Dinov2", lambda: torch.rand(*IMAGE), hidden_size=192, num_hidden_layers=4, num_attention_heads=3),
    "lstm": recurrent(torch.nn.LSTM),
    "gru": recurrent(torch.nn.GRU),
}


def export(make, folder):
    network, inputs = make()
    network.eval()
    for module in network.modules():
        if isinstance(module, (torch.nn.BatchNorm2d, torch.nn.BatchNorm3d)):  # as after training, not 0 and 1
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.8, 1.2)
    with torch.no_grad():
        expected = network(*inputs)
    folder.mkdir(parents=True, exist_ok=True)
    program = torch.onnx.export(network, inputs, dynamo=True, verbose=False)
    program.save(folder / "model.onnx", external_data=False)
    graph = program.model.graph
    np.savez(folder / "inputs.npz", **{value.name: x.numpy() for value, x in zip(graph.inputs, inputs)})
    np.savez(folder / "expected.npz", **{graph.outputs[0].name: expected.numpy()})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NETWORKS))
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(NETWORKS):
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    warnings.filterwarnings("ignore")
    for name in arguments.names or NETWORKS:
        torch.manual_seed(0)
        try:
            export(NETWORKS[name], arguments.folder / name)
        except Exception as error:  # of three libraries
            print(f"{name} cannot be exported: {str(error).splitlines()[0]}", file=sys.stderr)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes the layer-time profiles of models, configs/profiles/*.csv, from layer shapes and published times.

    scripts/make_profiles.py            rewrite the files
    scripts/make_profiles.py --check    exit 1 if a file differs from its newly computed contents

The models are in scripts/profiles/.
"""
import argparse
import pathlib
import sys

sys.dont_write_bytecode = True

from profiles import (  # noqa: E402
    bert,
    chinchilla,
    convnext,
    ddppo,
    diloco,
    gpt,
    intellect,
    llama,
    lstm_alexnet,
    resnet,
    transformer,
    vgg,
)

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "configs" / "profiles"

MODELS = (
    vgg.vgg16,
    resnet.resnet50,
    resnet.resnet20,
    bert.bert_large,
    bert.bert_base,
    transformer.transformer_base,
    lstm_alexnet.lstm_alexnet,
    gpt.gpt2,
    llama.llama_1b,
    llama.llama_8b,
    chinchilla.diloco_1b,
    chinchilla.diloco_10b,
    chinchilla.diloco_100b,
    chinchilla.streaming_1b,
    chinchilla.streaming_10b,
    chinchilla.streaming_100b,
    chinchilla.scaling_10b,
    chinchilla.scaling_405b,
    chinchilla.scaling_671b,
    ddppo.ddppo,
    convnext.convnext_large,
    diloco.diloco_measured,
    diloco.diloco_measured_ddp,
    intellect.intellect_1,
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    stale = []
    for profile in (model() for model in MODELS):
        path = FOLDER / (profile.name + ".csv")
        if not arguments.check:
            path.write_text(profile.text(), encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != profile.text():
            stale.append(str(path))
    if stale:
        sys.exit("not what scripts/make_profiles.py writes: " + ", ".join(stale))


if __name__ == "__main__":
    main()

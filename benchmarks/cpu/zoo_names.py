"""The networks of the row "fusion", by name (importable without the framework)."""

NETWORKS = [
    "mlp", "lenet", "vgg", "resnet", "mobilenet", "densenet", "squeeze_excite", "unet", "dcgan", "vae", "vit", "bert",
    "gpt", "llama", "lstm", "deepfm",
]  # fmt: skip

"""Save and load weights: plain, encrypted, as safetensors; load part of them."""

from common import make_net

import mindspore as ms

net, other = make_net(), make_net()
ms.save_checkpoint(net, "out/net.ckpt", append_dict={"epoch": 3, "note": "example"}, crc_check=True)
stored = ms.load_checkpoint("out/net.ckpt", crc_check=True)
print("not in the file, not used:", ms.load_param_into_net(other, stored))

key = b"0123456789ABCDEF"
ms.save_checkpoint(net, "out/secret.ckpt", enc_key=key)
try:
    ms.load_checkpoint("out/secret.ckpt")
except ValueError as error:
    print("without the key:", error)
print("with the key:", sorted(ms.load_checkpoint("out/secret.ckpt", dec_key=key)))

ms.ckpt_to_safetensors("out/net.ckpt")
first = ms.load_checkpoint("out/net.safetensors", choice_func=lambda name: name.startswith("0."), format="safetensors")
print("first layer only:", sorted(first))

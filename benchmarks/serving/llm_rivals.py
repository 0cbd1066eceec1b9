"""What others do with the model of `llm.py`, which starts this with the interpreter of their environment.

    python -m venv rivals && rivals/bin/pip install openvino-genai optimum-intel transformers llama-cpp-python gguf
    rivals/bin/pip uninstall -y torchvision   # comes along, and where it does not fit to torch, transformers does not load

A process holds one model of one rival. It reads a line of JSON per measurement and answers with a line: {"decode": streams, "tokens": n,
"turn": t} or {"prefill": length, "turn": t}, tokens per second. Both threads of the machine are theirs while they measure.
"""

import argparse
import json
import os
import shutil
import sys
import time

import numpy as np

THREADS = os.cpu_count() or 1


def prompts(vocabulary, count, length, turn):
    return np.random.default_rng([count, length, turn + 1]).integers(0, vocabulary, (count, length))


def second_half(times, streams):
    """Tokens per second of the second half of the steps, each of which gave a token to every stream."""
    half = len(times) // 2
    return streams * (len(times) - 1 - half) / (times[-1] - times[half])


class OpenVino:
    """OpenVINO GenAI's continuous batching; f32 asks for f32 arithmetic, the others are as they come."""

    def __init__(self, folder, weights):
        import openvino_genai as genai

        self.genai = genai
        made = os.path.join(folder, f"openvino_{weights}")
        if not os.path.isdir(made):
            self._convert(folder, made, weights)
        scheduler = genai.SchedulerConfig()
        scheduler.cache_size, scheduler.max_num_batched_tokens, scheduler.enable_prefix_caching = 1, 512, False
        hint = {"INFERENCE_PRECISION_HINT": "f32"} if weights == "float32" else {}
        self.pipeline = genai.ContinuousBatchingPipeline(
            made, scheduler, "CPU", {"INFERENCE_NUM_THREADS": THREADS, **hint}
        )
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            self.vocabulary = json.load(file)["vocab_size"]

    def _convert(self, folder, made, weights):
        from optimum.intel import OVModelForCausalLM, OVWeightQuantizationConfig

        how = {
            "int8": OVWeightQuantizationConfig(bits=8),
            "int4": OVWeightQuantizationConfig(bits=4, sym=True, group_size=64),
        }
        temporary = made + ".part"
        model = OVModelForCausalLM.from_pretrained(folder, export=True, compile=False, quantization_config=how.get(weights),
                                                   **({"load_in_8bit": False} if weights == "float32" else {}))  # fmt: skip
        model.save_pretrained(temporary)
        shutil.move(temporary, made)

    def _steps(self, rows, tokens):
        """When each step ended, the beginning first."""
        import openvino

        config = self.genai.GenerationConfig()
        config.max_new_tokens, config.ignore_eos, config.do_sample = tokens, True, False
        times = [time.perf_counter()]
        handles = [self.pipeline.add_request(n, openvino.Tensor(row[None]), config) for n, row in enumerate(rows)]
        while self.pipeline.has_non_finished_requests():
            self.pipeline.step()
            times.append(time.perf_counter())
        del handles
        return times

    def decode(self, streams, tokens, turn):
        return second_half(self._steps(prompts(self.vocabulary, streams, 64, turn), tokens)[-tokens + 1 :], streams)

    def prefill(self, length, turn):
        times = self._steps(prompts(self.vocabulary, 1, length, turn), 1)
        return length / (times[-1] - times[0])


class Transformers:
    """Hugging Face's own loop, without its Python for sampling: the model with its cache, and the largest logit."""

    def __init__(self, folder, weights):
        import torch
        import transformers

        self.torch = torch
        torch.set_num_threads(THREADS)
        self.model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()

    def _steps(self, rows, tokens):
        torch, cache = self.torch, None
        given, times = torch.tensor(rows), [time.perf_counter()]
        with torch.inference_mode():
            for _ in range(tokens):
                found = self.model(input_ids=given, past_key_values=cache, use_cache=True, logits_to_keep=1)
                given, cache = found.logits[:, -1:].argmax(-1), found.past_key_values
                times.append(time.perf_counter())
        return times

    def decode(self, streams, tokens, turn):
        return second_half(self._steps(prompts(self.model.config.vocab_size, streams, 64, turn), tokens)[2:], streams)

    def prefill(self, length, turn):
        times = self._steps(prompts(self.model.config.vocab_size, 1, length, turn), 1)
        return length / (times[1] - times[0])


class LlamaCpp:
    """llama.cpp by its C functions, without samplers: llama_decode over a batch, as its own llama-batched-bench does."""

    def __init__(self, folder, weights):
        import llama_cpp

        self.c = llama_cpp
        path = gguf_of(folder, weights)
        llama_cpp.llama_backend_init()
        self.model = llama_cpp.llama_model_load_from_file(path.encode(), llama_cpp.llama_model_default_params())
        settings = llama_cpp.llama_context_default_params()
        settings.n_ctx, settings.n_batch, settings.n_ubatch, settings.n_seq_max = 32 * 576, 2048, 512, 32
        settings.n_threads = settings.n_threads_batch = THREADS
        self.context = llama_cpp.llama_init_from_model(self.model, settings)
        self.vocabulary = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self.model))

    def _decode(self, rows):
        """Rows are (token, place, stream, whether logits are wanted)."""
        batch = self.c.llama_batch_init(len(rows), 0, 1)
        batch.n_tokens = len(rows)
        for n, (token, place, stream, wanted) in enumerate(rows):
            batch.token[n], batch.pos[n], batch.n_seq_id[n], batch.seq_id[n][0], batch.logits[n] = (
                token,
                place,
                1,
                stream,
                wanted,
            )
        if self.c.llama_decode(self.context, batch) != 0:
            raise RuntimeError("llama_decode failed")
        self.c.llama_batch_free(batch)
        wanted = [n for n, row in enumerate(rows) if row[3]]
        return [
            int(np.argmax(np.ctypeslib.as_array(self.c.llama_get_logits_ith(self.context, n), (self.vocabulary,))))
            for n in wanted
        ]

    def _steps(self, rows, tokens):
        self.c.llama_memory_clear(self.c.llama_get_memory(self.context), True)
        times = [time.perf_counter()]
        length = rows.shape[1]
        found = []
        for stream, row in enumerate(rows.tolist()):
            found += self._decode([(token, place, stream, place == length - 1) for place, token in enumerate(row)])
        times.append(time.perf_counter())
        for step in range(tokens - 1):
            found = self._decode([(token, length + step, stream, True) for stream, token in enumerate(found)])
            times.append(time.perf_counter())
        return times

    def decode(self, streams, tokens, turn):
        return second_half(self._steps(prompts(self.vocabulary, streams, 64, turn), tokens)[1:], streams)

    def prefill(self, length, turn):
        times = self._steps(prompts(self.vocabulary, 1, length, turn), 1)
        return length / (times[1] - times[0])


def gguf_of(folder, weights):
    """The path of the folder's model as llama.cpp reads it, which is made if it is not there."""
    import llama_cpp

    plain, path = (os.path.join(folder, f"model.{kind}.gguf") for kind in ("f32", weights))
    if not os.path.exists(plain):
        write_gguf(folder, plain + ".part")
        os.replace(plain + ".part", plain)
    if weights == "float32":
        return plain
    if not os.path.exists(path):
        how = llama_cpp.llama_model_quantize_default_params()
        how.ftype = {"int8": llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0, "int4": llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_0}[weights]
        if llama_cpp.llama_model_quantize(plain.encode(), (path + ".part").encode(), how) != 0:
            raise RuntimeError("llama_model_quantize failed")
        os.replace(path + ".part", path)
    return path


def write_gguf(folder, path):
    """The folder's weights and tokens under llama.cpp's names."""
    import gguf
    from safetensors.numpy import load_file

    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    kind = config["model_type"]
    llama = kind == "llama"
    writer = gguf.GGUFWriter(path, kind)
    layers, width = (config[k] for k in (("num_hidden_layers", "hidden_size") if llama else ("n_layer", "n_embd")))
    writer.add_context_length(1024)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(config["intermediate_size"] if llama else 4 * width)
    writer.add_head_count(config["num_attention_heads"] if llama else config["n_head"])
    writer.add_vocab_size(config["vocab_size"])
    with open(os.path.join(folder, "tokenizer.json"), encoding="utf-8") as file:
        model = json.load(file)["model"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(sorted(model["vocab"], key=model["vocab"].get))
    writer.add_token_types([gguf.TokenType.NORMAL] * config["vocab_size"])
    writer.add_token_merges([pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]])
    writer.add_add_bos_token(False)
    if llama:
        writer.add_head_count_kv(config["num_key_value_heads"])
        writer.add_rope_dimension_count(width // config["num_attention_heads"])
        writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    else:
        writer.add_layer_norm_eps(config["layer_norm_epsilon"])
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA if llama else gguf.MODEL_ARCH.GPT2, layers)
    for name, array in load_file(os.path.join(folder, "model.safetensors")).items():
        if not llama and name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight")):
            array = np.ascontiguousarray(array.T)
        writer.add_tensor(names.get_name(name, (".weight", ".bias")), array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


RIVALS = {"openvino": OpenVino, "transformers": Transformers, "llama.cpp": LlamaCpp}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rival", choices=RIVALS)
    parser.add_argument("folder")
    parser.add_argument("weights")
    options = parser.parse_args()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    rival = RIVALS[options.rival](options.folder, options.weights)
    print(json.dumps("ready"), file=answers, flush=True)
    for line in sys.stdin:
        wanted = json.loads(line)
        if "decode" in wanted:
            found = rival.decode(wanted["decode"], wanted["tokens"], wanted["turn"])
        else:
            found = rival.prefill(wanted["prefill"], wanted["turn"])
        print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    main()

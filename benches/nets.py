#!/usr/bin/env python3
"""Times of networks in PyTorch on a CPU, next to brex in the same run.

The two take turns; the least time of several rounds counts. A training step is a forward pass, a loss,
the backward pass and Adam. `cargo xtask bench-nets` makes the environment and runs both: the words
after this script are the command that starts brex's side.
"""
import os
import subprocess
import sys
import time

import torch
from torch import nn

ROUNDS = int(os.environ.get("ROUNDS", "5"))
ENOUGH = 0.3
FEWEST = 3
CASES = [
    "encoder-forward-32",
    "encoder-forward-128",
    "encoder-train-32",
    "encoder-train-128",
    "autoencoder-train-32",
    "nature-forward-8",
    "nature-train-256",
    "pocket-forward-64",
    "pocket-train-256",
    "pretrain-atari-75",
    "pretrain-pocket-75",
]
ACTIONS = 6


def encoder_body():
    leaky = lambda: nn.LeakyReLU(0.01)
    return nn.Sequential(
        nn.Conv2d(4, 16, 7, 3), leaky(), nn.Conv2d(16, 32, 5, 2), leaky(),
        nn.Conv2d(32, 32, 3, 1), leaky(), nn.Conv2d(32, 16, 3, 1), leaky(),
        nn.Flatten(), nn.Linear(784, 128), leaky(),
    )


class Heads(nn.Module):
    """A body and two linear heads."""

    def __init__(self, body, width, first, second):
        super().__init__()
        self.body = body
        self.first = nn.Linear(width, first)
        self.second = nn.Linear(width, second)

    def forward(self, x):
        hidden = self.body(x)
        return self.first(hidden), self.second(hidden)


class Autoencoder(nn.Module):
    """The paper's encoder and decoder; the sample is replaced by the sum of mean and spread."""

    def __init__(self):
        super().__init__()
        leaky = lambda: nn.LeakyReLU(0.01)
        self.encoder = Heads(encoder_body(), 128, 64, 64)
        self.decoder = nn.Sequential(
            nn.Linear(64, 128), leaky(), nn.Linear(128, 1568), leaky(), nn.Unflatten(1, (2, 28, 28)),
            nn.ConvTranspose2d(2, 4, 3, 1), leaky(), nn.ConvTranspose2d(4, 16, 6, 1), leaky(),
            nn.ConvTranspose2d(16, 16, 7, 2), leaky(), nn.ConvTranspose2d(16, 4, 10, 1), nn.Sigmoid(),
        )

    def forward(self, x):
        mean, spread = self.encoder(x)
        return self.decoder(mean + (spread * 0.5).exp())


def nature():
    return Heads(nn.Sequential(
        nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(),
        nn.Conv2d(64, 64, 3, 1), nn.ReLU(), nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(),
    ), 512, 6, 1)


def pocket():
    return Heads(nn.Sequential(
        nn.Conv2d(4, 16, 4, 2), nn.ReLU(), nn.Conv2d(16, 32, 3, 2), nn.ReLU(),
        nn.Flatten(), nn.Linear(800, 256), nn.ReLU(),
    ), 256, 6, 1)


class Pretraining(nn.Module):
    """Encoder, decoder and heads of pre-training, with all losses of a pair of snippets."""

    def __init__(self, pocket):
        super().__init__()
        leaky = lambda: nn.LeakyReLU(0.01)
        if pocket:
            body = nn.Sequential(
                nn.Conv2d(4, 16, 4, 2), leaky(), nn.Conv2d(16, 32, 3, 2), leaky(),
                nn.Flatten(), nn.Linear(800, 128), leaky(),
            )
            self.decoder = nn.Sequential(
                nn.Linear(64, 128), leaky(), nn.Linear(128, 800), leaky(), nn.Unflatten(1, (32, 5, 5)),
                nn.ConvTranspose2d(32, 16, 3, 2), leaky(), nn.ConvTranspose2d(16, 4, 4, 2), nn.Sigmoid(),
            )
        else:
            body = encoder_body()
            self.decoder = Autoencoder().decoder
        self.encoder = Heads(body, 128, 64, 64)
        self.reward = nn.Linear(64, 1)
        self.temporal = nn.Linear(128, 1, bias=False)
        self.inverse = nn.Linear(128, ACTIONS, bias=False)
        self.dynamics = nn.Linear(64 + ACTIONS, 64, bias=False)

    def part(self, frames, actions):
        """The self-supervised losses of a snippet, and its return."""
        mean, spread = self.encoder(frames)
        sample = mean + (spread * 0.5).exp() * torch.randn_like(spread)
        drawn = self.decoder(sample)
        divergence = -0.5 * (1 + spread - mean.square() - spread.exp()).sum() / drawn.numel()
        loss = 10 * (nn.functional.binary_cross_entropy(drawn, frames) + divergence)
        first, second = torch.randint(len(frames), (2,)).tolist()
        guess = self.temporal(torch.cat([mean[first], mean[second]]))
        loss = loss + 4 * (guess - (second - first) / 100).square().mean()
        logits = self.inverse(torch.cat([mean[:-1], mean[1:]], 1))
        loss = loss + nn.functional.cross_entropy(logits, actions[1:]) / 1.9
        state = mean[:-5]
        done = nn.functional.one_hot(actions, ACTIONS).float()
        for step in range(5):
            state = self.dynamics(torch.cat([state, done[step + 1:len(frames) - 4 + step]], 1))
        loss = loss + 100 * (state - mean[5:]).square().mean()
        return loss, self.reward(sample).sum()

    def loss(self, worse, better, actions):
        first, low = self.part(worse, actions)
        second, high = self.part(better, actions)
        return first + second + nn.functional.softplus(low - high)


def heads_loss(net, x):
    first, second = net(x)
    return first.square().mean() + second.square().mean()


def autoencoder_loss(net, x):
    return (net(x) - x).square().mean()


NETS = {
    "encoder": (lambda: Heads(encoder_body(), 128, 64, 64), 84, heads_loss),
    "autoencoder": (Autoencoder, 84, autoencoder_loss),
    "nature": (nature, 84, heads_loss),
    "pocket": (pocket, 24, heads_loss),
}


def pretraining_call(pocket, frames):
    """An update with all losses on a pair of snippets; frames come as bytes."""
    net = Pretraining(pocket)
    size = 24 if pocket else 84
    episodes = torch.randint(0, 256, (2, 2 * frames, 4, size, size), dtype=torch.uint8)
    actions = torch.randint(0, ACTIONS, (2 * frames,))
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-4, weight_decay=1e-3)

    def call():
        begin = int(torch.randint(frames, ()))
        worse, better = episodes[:, begin:begin + frames].float() / 255
        optimiser.zero_grad()
        net.loss(worse, better, actions[begin:begin + frames]).backward()
        optimiser.step()
    return call


def make_call(case):
    """What one call of a case does."""
    name, work, batch = case.split("-")
    if name == "pretrain":
        return pretraining_call(work == "pocket", int(batch))
    make, size, loss = NETS[name]
    net = make()
    x = torch.rand(int(batch), 4, size, size)
    if work == "forward":
        def call():
            with torch.no_grad():
                net(x)
    else:
        optimiser = torch.optim.Adam(net.parameters(), lr=1e-4)

        def call():
            optimiser.zero_grad()
            loss(net, x).backward()
            optimiser.step()
    return call


def least_ms(call):
    """The least time of a call in milliseconds."""
    call()
    times = []
    begin = time.perf_counter()
    while len(times) < FEWEST or time.perf_counter() - begin < ENOUGH:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def main():
    ours = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    calls = {case: make_call(case) for case in CASES}
    best = {}
    for number in range(ROUNDS):
        print(f"round {number + 1} of {ROUNDS}", file=sys.stderr)
        for case in CASES:
            for threads in (1, 2):
                ours.stdin.write(f"{case} {threads}\n")
                ours.stdin.flush()
                answer = ours.stdout.readline()
                if not answer:
                    sys.exit(f"brex's side ended at {case}")
                torch.set_num_threads(threads)
                pair = best.setdefault((case, threads), [float("inf"), float("inf")])
                pair[0] = min(pair[0], float(answer))
                pair[1] = min(pair[1], least_ms(calls[case]))
    ours.stdin.close()
    ours.wait()
    print(f"\nmilliseconds, least of {ROUNDS} rounds; PyTorch {torch.__version__}\n")
    print(f"{'case':24} {'threads':>7} {'brex':>9} {'PyTorch':>9} {'ratio':>6}")
    for (case, threads), (brex, theirs) in best.items():
        print(f"{case:24} {threads:>7} {brex:>9.3f} {theirs:>9.3f} {brex / theirs:>6.2f}")


main()

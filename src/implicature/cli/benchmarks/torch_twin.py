"""The same work in plain PyTorch, eager, as one would write it who has never seen ours. Needs the extra `peers`.

twin    our training step: exchange network, both halves, every candidate as the target, Adam with clipping
EGG     the discrimination game of EGG (Kharitonov et al. 2019): a sender with a GRU that sees the target, trained by
        REINFORCE with a mean baseline, a receiver that compares candidates with the message, batches from a loader
"""

from collections.abc import Callable

import torch  # pyright: ignore[reportMissingImports]
from torch import nn  # pyright: ignore[reportMissingImports]
from torch.distributions import Categorical  # pyright: ignore[reportMissingImports]
from torch.nn import functional as F  # pyright: ignore[reportMissingImports]
from torch.utils.data import DataLoader, TensorDataset  # pyright: ignore[reportMissingImports]

BETA, LAPSE_RATE, EPSILON, REPLAY_BATCHES = 20.0, 0.05, 0.5, 16
EGG_BATCH, EGG_HIDDEN, EGG_EMBEDDING, EGG_ENTROPY = 32, 50, 10, 0.1
"""EGG's defaults."""


class Layer(nn.Module):
    """One layer on the candidates × messages table."""

    def __init__(self, width: int):
        super().__init__()
        self.column_mean = nn.Linear(width, width)
        self.own, self.column_max, self.row_mean, self.row_max = (nn.Linear(width, width, bias=False) for _ in range(4))

    def forward(self, cells):
        column = self.column_mean(cells.mean(1, keepdim=True)) + self.column_max(cells.amax(1, keepdim=True))
        row = self.row_mean(cells.mean(2, keepdim=True)) + self.row_max(cells.amax(2, keepdim=True))
        return cells + F.leaky_relu(self.own(cells) + column + row)


class Net(nn.Module):
    """The exchange network with frozen meanings: log P(m | o, O) and the cells."""

    def __init__(self, features: int, messages: int, width: int = 16, layers: int = 3):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(features, 2 * width), nn.LeakyReLU(), nn.Linear(2 * width, 2 * width))
        self.messages = nn.Parameter(torch.randn(messages, 2 * width) / width**0.5)
        self.aux = nn.Parameter(torch.randn(3, messages, 2 * width) / width**0.5)
        self.expand, self.readout = nn.Linear(8, width), nn.Linear(width, 1, bias=False)
        self.layers = nn.ModuleList(Layer(width) for _ in range(layers - 1))

    def forward(self, features):
        embedded = self.encoder(features)
        fits = (embedded @ self.messages.T).detach()
        aux = torch.einsum("bkd,amd->bkma", embedded.detach(), self.aux)
        table = torch.stack(
            torch.broadcast_tensors(
                fits, fits.mean(1, keepdim=True), fits.amax(1, keepdim=True), fits.mean(2, keepdim=True),
                fits.amax(2, keepdim=True),
            ), -1,
        )  # fmt: skip
        cells = F.leaky_relu(self.expand(torch.cat([table, aux], -1)))
        for layer in self.layers:
            cells = layer(cells)
        logits = 2 * fits + 5 * torch.tanh(self.readout(cells)[..., 0] / 5)
        likelihood = (1 - LAPSE_RATE) * F.softmax(logits, -1) + LAPSE_RATE / logits.shape[-1]
        return likelihood.log(), cells


class Teacher(nn.Module):
    def __init__(self, features: int, messages: int, width: int = 16, hidden: int = 32):
        super().__init__()
        self.net = Net(features, messages, width)
        self.head = nn.Sequential(nn.Linear(width, hidden), nn.LeakyReLU(), nn.Linear(hidden, 1))

    def forward(self, features):
        """Q of every message for every candidate as the target, and the belief that she predicts."""
        likelihood, cells = self.net(features)
        belief = F.softmax(likelihood, 1)
        return self.head(cells)[..., 0] + belief, belief


def belief_after(likelihood, message):
    """His belief (sets × targets × candidates) after the message of each target."""
    heard = likelihood[:, None].expand(-1, message.shape[1], -1, -1)
    index = message[:, :, None, None].expand(-1, -1, heard.shape[2], 1)
    return F.log_softmax(heard.gather(3, index)[..., 0], -1)


def twin_step(games, sets: int) -> Callable[[], None]:
    """Both halves of a phase once, on a batch of candidate sets; `games` are the features of many."""
    features, messages = games.shape[2], games.shape[2]
    teacher, student = Teacher(features, messages), Net(features, messages)
    optimisers = {model: torch.optim.Adam(model.parameters(), lr=3e-3) for model in (teacher, student)}
    replay: list[tuple] = []

    def draw():
        return games[torch.randint(len(games), (sets,))]

    def update(model, loss) -> None:
        optimisers[model].zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimisers[model].step()

    def teacher_half() -> None:
        batch = draw()
        with torch.no_grad():
            explore = EPSILON / messages + (1 - EPSILON) * F.softmax(BETA * teacher(batch)[0], -1)
            message = Categorical(explore).sample()
            belief = belief_after(student(batch)[0], message).exp()
            reward = (Categorical(belief).sample() == torch.arange(batch.shape[1])).float()
        replay.append((batch, message, belief, reward))
        del replay[:-REPLAY_BATCHES]
        batches = [torch.cat(part) for part in zip(*replay, strict=True)]
        row = torch.randint(len(batches[0]), (sets,))
        batch, message, belief, reward = (part[row] for part in batches)
        value, predicted = teacher(batch)
        q_loss = (value.gather(2, message[..., None])[..., 0] - reward).square().mean()
        heard = predicted[:, None].expand(-1, message.shape[1], -1, -1)
        index = message[:, :, None, None].expand(-1, -1, heard.shape[2], 1)
        expected = heard.gather(3, index)[..., 0]
        update(teacher, q_loss - (belief * (expected + 1e-9).log()).sum(-1).mean())

    def student_half() -> None:
        batch = draw()
        with torch.no_grad():
            message = Categorical(F.softmax(BETA * teacher(batch)[0], -1)).sample()
        target = torch.arange(batch.shape[1])[None, :, None].expand(sets, -1, 1)
        update(student, -belief_after(student(batch)[0], message).gather(2, target).mean())

    def step() -> None:
        teacher_half()
        student_half()

    return step


class Sender(nn.Module):
    """EGG's RnnSenderReinforce with messages of one symbol."""

    def __init__(self, features: int, messages: int):
        super().__init__()
        self.agent, self.cell = nn.Linear(features, EGG_HIDDEN), nn.GRUCell(EGG_EMBEDDING, EGG_HIDDEN)
        self.start, self.out = nn.Parameter(torch.randn(EGG_EMBEDDING)), nn.Linear(EGG_HIDDEN, messages)

    def forward(self, target):
        start = self.start.expand(len(target), -1)
        return Categorical(logits=self.out(self.cell(start, self.agent(target))))


class Receiver(nn.Module):
    """EGG's RnnReceiverDeterministic around a comparison of candidates with the message."""

    def __init__(self, features: int, messages: int):
        super().__init__()
        self.embedding = nn.Embedding(messages, EGG_EMBEDDING)
        self.rnn, self.candidates = nn.GRU(EGG_EMBEDDING, EGG_HIDDEN, batch_first=True), nn.Linear(features, EGG_HIDDEN)

    def forward(self, message, candidates):
        heard = self.rnn(self.embedding(message)[:, None])[1][0]
        return torch.einsum("bkh,bh->bk", torch.tanh(self.candidates(candidates)), heard)


def egg_step(games, batch: int = EGG_BATCH) -> Callable[[], None]:
    """One batch of games: both agents learn together."""
    features = games.shape[2]
    sender, receiver = Sender(features, features), Receiver(features, features)
    optimiser = torch.optim.Adam([*sender.parameters(), *receiver.parameters()], lr=1e-2)
    loader = DataLoader(TensorDataset(games), batch, shuffle=True, drop_last=True)
    stream, mean = iter(loader), 0.0

    def step() -> None:
        nonlocal stream, mean
        candidates = next(stream, (None,))[0]
        if candidates is None:
            stream = iter(loader)
            candidates = next(stream)[0]
        target = torch.randint(candidates.shape[1], (batch,))
        said = sender(candidates[torch.arange(batch), target])
        message = said.sample()
        loss = F.cross_entropy(receiver(message, candidates), target, reduction="none")
        policy = ((loss.detach() - mean) * said.log_prob(message)).mean() - EGG_ENTROPY * said.entropy().mean()
        mean = 0.9 * mean + 0.1 * loss.mean().item()
        optimiser.zero_grad()
        (loss.mean() + policy).backward()
        optimiser.step()

    return step

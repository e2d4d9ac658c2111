"""torch's own launcher, which starts and watches the ranks."""

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> None:
    from torch.distributed.run import main as run

    run(list(arguments))

"""Users of an edited launch that no launch shows: pages, programs of make and CMake, containers, texts in UTF-16."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixes.conftest import Fixed

NAME = "CUDA_DEVICE_MAX_CONNECTIONS"
REST = "--use-distributed-optimizer --data-parallel-sharding-strategy optim_grads_params"
GOOD = f"torchrun --nproc_per_node 8 pretrain_gpt.py --use-megatron-fsdp {REST} --ckpt-format fsdp_dtensor"
OTHER = "torchrun --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size 2"

SOURCED = {"env.sh": f"export {NAME}=1\n", "a.sh": f"source env.sh\n{GOOD}\n"}
SOURCING = {
    "a page": ("README.md", f"Without FSDP:\n\n```bash\nsource env.sh\n{OTHER}\n```\n"),
    "words of a page": ("docs/use.rst", "First ``source env.sh``, then start what you like.\n"),
    "CMake": ("CMakeLists.txt", 'add_test(NAME t COMMAND bash -c "source ${CMAKE_SOURCE_DIR}/env.sh && ./t")\n'),
}


@pytest.mark.parametrize(("path", "text"), SOURCING.values(), ids=SOURCING)
def test_a_variable_stays_where_a_page_or_a_build_sources_it(fixed: Fixed, path: str, text: str) -> None:
    assert fixed({**SOURCED, path: text}, "a.sh", "env.sh") == {"a.sh": f"source env.sh\nenv -u {NAME} {GOOD}\n"}


NAMING = {
    "a page": ("README.md", "Variables are in `env.sh`.\n\n```bash\nbash a.sh\n```\n"),
    "a list": ("files.txt", "env.sh\na.sh\n"),
    "another file": ("README.md", "source other_env.sh\n"),
}


@pytest.mark.parametrize(("path", "text"), NAMING.values(), ids=NAMING)
def test_a_page_that_only_names_a_file_holds_nothing_back(fixed: Fixed, path: str, text: str) -> None:
    assert fixed({**SOURCED, path: text}, "a.sh", "env.sh") == {"env.sh": ""}


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "utf-8-sig"])
def test_a_text_counts_in_whatever_encoding(fixed: Fixed, tmp_path: Path, encoding: str) -> None:
    (tmp_path / "plain.ps1").write_bytes("# démarrage\nbash -c 'source env.sh; ./legacy'\n".encode(encoding))
    assert fixed(SOURCED, "a.sh", "env.sh").keys() == {"a.sh"}


SHOWING = {
    "Sphinx": ("i.rst", ".. literalinclude:: ../a.sh\n   :language: bash\n   :lines: 2-3\n"),
    "Sphinx from a line on": ("i.rst", f".. literalinclude:: ../a.sh\n   :start-at: export {NAME}\n"),
    "MyST": ("i.md", "```{literalinclude} ../a.sh\n:lines: 2-3\n```\n"),
    "AsciiDoc": ("i.adoc", "----\ninclude::../a.sh[lines=2..3]\n----\n"),
    "MkDocs": ("i.md", '```bash\n--8<-- "a.sh:2:3"\n```\n'),
}
SHOWN = f"export {NAME}=1\nexport NCCL_DEBUG=WARN\n"


@pytest.mark.parametrize(("page", "text"), SHOWING.values(), ids=SHOWING)
def test_no_line_moves_where_a_page_shows_some_of_them(fixed: Fixed, page: str, text: str) -> None:
    changed = fixed({"a.sh": f"{SHOWN}{GOOD}\n", f"docs/{page}": text}, "a.sh")
    assert changed == {"a.sh": f"{SHOWN}env -u {NAME} {GOOD}\n"}


@pytest.mark.parametrize(
    "text", [".. literalinclude:: ../a.sh\n   :language: bash\n", "See `a.sh` (2 lines).\n", "a.sh:2:1: error\n"]
)
def test_lines_may_move_where_a_page_shows_all_of_them(fixed: Fixed, text: str) -> None:
    changed = fixed({"a.sh": f"{SHOWN}{GOOD}\n", "docs/i.rst": text}, "a.sh")
    assert changed == {"a.sh": f"export NCCL_DEBUG=WARN\n{GOOD}\n"}


SERVICE = (
    f'services:\n  train:\n    image: nemo\n    container_name: box\n    environment:\n      {NAME}: "1"\n      A: b\n'
)
COMPOSE = f"{SERVICE}    command: {GOOD}\n"
RUNNING = {
    "a script": ("tp.sh", f"docker compose run --rm train {OTHER}\n"),
    "lines of a script": ("tp.sh", f"docker compose -f compose.yaml \\\n  run --rm train \\\n  {OTHER}\n"),
    "a Makefile": ("Makefile", "DC = docker-compose\ntp:\n\t$(DC) exec -T train $(COMMAND)\n"),
    "a page": ("README.md", "```\ndocker compose exec train bash\n```\n"),
    "a program": ("tp.py", 'run(["docker", "compose", "run", "train", "bash", "tp.sh"])\n'),
    "the name of its container": ("README.md", "docker compose up -d\ndocker exec -it box bash\n"),
}


@pytest.mark.parametrize(("path", "text"), RUNNING.values(), ids=RUNNING)
def test_a_service_keeps_its_variables_where_another_command_runs_in_it(fixed: Fixed, path: str, text: str) -> None:
    changed = fixed({"compose.yaml": COMPOSE, path: text}, "compose.yaml")
    assert changed == {"compose.yaml": f"{SERVICE}    command: env -u {NAME} {GOOD}\n"}


@pytest.mark.parametrize(
    "line", ["docker compose run --rm train", "docker compose up train eval", "python train.py -x"]
)
def test_who_starts_a_service_as_it_is_holds_nothing_back(fixed: Fixed, line: str) -> None:
    changed = fixed({"compose.yaml": COMPOSE, "all.sh": f"# compose\n{line} && docker compose down\n"}, "compose.yaml")
    assert changed == {"compose.yaml": COMPOSE.replace(f'      {NAME}: "1"\n', "")}


ENV = f'env:\n  {NAME}: "1"\n  A: b\n'
JOBS = f"jobs:\n  t:\n    runs-on: gpu\n    steps:\n      - run: {GOOD}\n  tp:\n"
ACTION = f"runs:\n  using: composite\n  steps:\n    - shell: bash\n      run: {OTHER}\n"


def test_a_workflow_keeps_its_variables_for_an_action_of_the_repository(fixed: Fixed) -> None:
    path, steps = ".github/workflows/t.yml", "    runs-on: gpu\n    steps:\n      - uses: ./.github/actions/tp\n"
    files = {path: f"on: push\n{ENV}{JOBS}{steps}", ".github/actions/tp/action.yml": ACTION}
    assert fixed(files, ".github") == {path: files[path].replace(GOOD, f"env -u {NAME} {GOOD}")}


@pytest.mark.parametrize(
    "steps",
    ["    uses: ./.github/workflows/tp.yml\n", "    runs-on: gpu\n    steps:\n      - uses: actions/checkout@v4\n"],
)
def test_a_workflow_that_is_called_has_none_of_them(fixed: Fixed, steps: str) -> None:
    path = ".github/workflows/t.yml"
    text = f"on: push\n{ENV}{JOBS}{steps}"
    assert fixed({path: text}, ".github") == {path: text.replace(f'  {NAME}: "1"\n', "")}

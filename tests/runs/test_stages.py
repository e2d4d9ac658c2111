"""Runs one after the other: the second loads what the first saves, in a format that it reads or does not read."""

from __future__ import annotations

import re

import pytest

from tests.runs.project import Project

CODE = "MFSDP927"
RUN = "torchrun --nproc-per-node 8 pretrain_gpt.py"
FSDP = f"{RUN} --use-megatron-fsdp --ckpt-format fsdp_dtensor --data-parallel-sharding-strategy optim_grads_params"
PLAIN = f"{RUN} --tensor-model-parallel-size 2"
ONE, TWO = f"{PLAIN} --save /c/one\n", f"{FSDP} \\\n  --load /c/one --save /c/two\n"
COMMON = "source common.sh\n"


def said(project: Project, capsys: pytest.CaptureFixture[str], files: dict[str, str], *asked: str) -> list[str]:
    """Lint the files, and return the places of the warnings: `path:line`."""
    for path, text in files.items():
        project.write(path, text)
    project.lint("--select", CODE, "--target-core", "0.18.2", *asked)
    return re.findall(rf"^(\S+?:\d+):\d+: warning {CODE}", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize("asked", [".", "two.sh"])
def test_what_another_script_saves_is_in_another_format(
    asked: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(project, capsys, {"one.sh": ONE, "two.sh": TWO}, asked) == ["two.sh:2"]


def test_the_run_that_saves_is_named(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.write("one.sh", ONE)
    project.write("two.sh", TWO)
    project.lint("--select", CODE, "--target-core", "0.18.2")
    assert '"one.sh" saves "torch_dist" in "/c/one"' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        pytest.param({"all.sh": ONE + TWO}, ["all.sh:3"], id="in one script"),
        pytest.param(
            {
                "all.sh": f'stage() {{\n  {RUN} --save /c/$1 ${{2:+--load /c/$2}} "${{@:3}}"\n}}\n'
                "stage one '' --tensor-model-parallel-size 2\n"
                f"stage two one {FSDP.removeprefix(RUN)}\n"
            },
            ["all.sh:2"],
            id="of one function",
        ),
        pytest.param(
            {
                "all.sh": f"ARGS=\nif [ $X = 1 ]; then ARGS='{FSDP.removeprefix(RUN)}'; fi\n"
                f"{PLAIN} $ARGS --save /c --load /c\n"
            },
            [],
            id="one run or the other",
        ),
        pytest.param(
            {
                "one.sh": ONE,
                "two.sh": f"[ -f /c/two/latest.txt ] && L=/c/two || L=/c/one\n{FSDP} --load $L --save /c/two\n",
            },
            ["two.sh:2"],
            id="where it has no checkpoint of its own yet",
        ),
        pytest.param(
            {"one.sh": ONE, "two.sh": f"[ -f x ] && L='{FSDP}' || L='{PLAIN}'\n$L --load /c/one --save /c/two\n"},
            ["two.sh:2"],
            id="on the way in another format",
        ),
        pytest.param({"all.sh": TWO + ONE}, [], id="the one that saves is below"),
        pytest.param({"one.sh": f"{FSDP} --save /c/one\n", "two.sh": TWO}, [], id="in the same format"),
        pytest.param(
            {"one.sh": f"{FSDP} --save /c/one\n", "two.sh": f"{PLAIN} --load /c/one\n"}, ["two.sh:1"], id="the reverse"
        ),
        pytest.param({"one.sh": ONE, "two.sh": f"{FSDP} --load /c/other\n"}, [], id="another folder"),
        pytest.param({"one.sh": f"{PLAIN} --save c/one\n", "two.sh": f"{FSDP} --load c/one\n"}, [], id="from anywhere"),
        pytest.param(
            {
                "common.sh": "ROOT=/c\n",
                "one.sh": f"{COMMON}{PLAIN} --save $ROOT/one\n",
                "two.sh": f"{COMMON}{FSDP} --load $ROOT/one\n",
            },
            ["two.sh:2"],
            id="a variable of both",
        ),
        pytest.param(
            {"one.sh": f"{PLAIN} --ckpt-format $FORMAT --save /c/one\n", "two.sh": TWO}, [], id="a format nobody knows"
        ),
        pytest.param(
            {"one.sh": ONE, "three.sh": f"{FSDP} --save /c/one\n", "two.sh": TWO}, [], id="a third saves there as well"
        ),
        pytest.param(
            {
                "one.sh": ONE,
                "convert.sh": "python checkpoint_inspector.py convert-torch-dist-to-fsdp-dtensor "
                "/c/old/iter_0000100 /c/one/iter_0000100\n",
                "two.sh": TWO,
            },
            [],
            id="a conversion into the folder",
        ),
        pytest.param(
            {"all.sh": f"{ONE}python convert.py --in-place /c/one\n{TWO}"}, [], id="another program has the folder"
        ),
        pytest.param(
            {
                "all.sh": f"{ONE}torchrun train.py checkpoint.load=/c/one ddp.use_megatron_fsdp=true "
                "checkpoint.ckpt_format=fsdp_dtensor\n"
            },
            ["all.sh:2"],
            id="overrides of Megatron-Bridge",
        ),
    ],
)
def test_stages(files: dict[str, str], wanted: list[str], project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(project, capsys, files) == wanted


BRIDGE = "/opt/Megatron-Bridge"
IMPORT = "python {program} import --hf-model meta-llama/Llama-3.2-1B --megatron-path {into}\n"
TUNE = (
    "torchrun train.py ddp.use_megatron_fsdp=true checkpoint.ckpt_format=fsdp_dtensor "
    "checkpoint.pretrained_checkpoint={folder}\n"
)
OLD = IMPORT.format(program=f"{BRIDGE}/examples/conversion/convert_checkpoints.py", into="/c/base")
OWN = (
    "import sys\nfrom megatron.bridge import AutoBridge\n\n\ndef main(model, out):\n    {call}\n\n\n"
    'if __name__ == "__main__":\n    main(*sys.argv[1:])\n'
)
SAVES = "bridge = AutoBridge.from_hf_pretrained(model); bridge.save_megatron_model(bridge.to_megatron_model(), out)"


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        pytest.param({"all.sh": OLD + TUNE.format(folder="/c/base")}, ["all.sh:2"], id="in one script"),
        pytest.param(
            {"import.sh": OLD, "tune.sh": TUNE.format(folder="/c/base")}, ["tune.sh:1"], id="in another script"
        ),
        pytest.param(
            {"all.sh": OLD.replace("/c/base", "$1") + TUNE.format(folder="$1")}, [], id="a folder nobody knows"
        ),
        pytest.param({"all.sh": OLD + TUNE.format(folder="/c/other")}, [], id="another folder"),
        pytest.param(
            {"all.sh": OLD.replace("import", "export") + TUNE.format(folder="/c/base")}, [], id="an export writes none"
        ),
        pytest.param(
            {"all.sh": OLD.replace("convert_checkpoints", "convert_checkpoints_fsdp") + TUNE.format(folder="/c/base")},
            [],
            id="imported for Megatron-FSDP",
        ),
        pytest.param(
            {
                "all.sh": OLD.replace("convert_checkpoints", "convert_checkpoints_fsdp").replace(
                    "\n", " --ckpt-format torch_dist\n"
                )
                + TUNE.format(folder="/c/base")
            },
            ["all.sh:2"],
            id="an option says the format",
        ),
        pytest.param(
            {
                "all.sh": OLD
                + "python checkpoint_inspector.py convert-torch-dist-to-fsdp-dtensor /c/base/iter_0000000 /c/fsdp\n"
                + TUNE.format(folder="/c/fsdp")
            },
            [],
            id="converted before",
        ),
        pytest.param(
            {
                "Makefile": "BASE := /c/base\ntune: base\n\tbash tune.sh $(BASE)\nbase:\n\t"
                + OLD.replace("/c/base", "$(BASE)"),
                "tune.sh": TUNE.format(folder="$1"),
            },
            ["tune.sh:1"],
            id="by targets of a Makefile",
        ),
        pytest.param(
            {
                "hf.py": OWN.format(call="AutoBridge.import_ckpt(model, megatron_path=out)"),
                "all.sh": "python hf.py Qwen/Qwen3-8B /c/base\n" + TUNE.format(folder="/c/base"),
            },
            ["all.sh:2"],
            id="by a program of the tree",
        ),
        pytest.param(
            {
                "hf.py": OWN.format(call=SAVES),
                "all.sh": "python hf.py Qwen/Qwen3-8B /c/base\n" + TUNE.format(folder="/c/base"),
            },
            ["all.sh:2"],
            id="by a program that saves what it has loaded",
        ),
        pytest.param(
            {
                "hf.py": OWN.format(call="AutoBridge.import_ckpt(model, choose(out))"),
                "all.sh": "python hf.py Qwen/Qwen3-8B /c/base\n" + TUNE.format(folder="/c/base"),
            },
            [],
            id="by a program that chooses the folder",
        ),
    ],
)
def test_imports(
    files: dict[str, str], wanted: list[str], project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    for path, text in files.items():
        project.write(path, text)
    project.lint("--select", CODE, "--target-bridge", "0.5.1")
    assert re.findall(rf"^(\S+?:\d+):\d+: warning {CODE}", capsys.readouterr().out, re.MULTILINE) == wanted

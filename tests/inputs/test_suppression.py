"""Suppression comments."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from mfsdp_lint.core.finding import Finding
from mfsdp_lint.core.recipe import Span
from mfsdp_lint.inputs.suppression import MOST, Comment, comments, suppress
from mfsdp_lint.readers.registry import reader_of


def read(text: str, kind: str = "python") -> list[Comment]:
    found, problems = comments("a", dedent(text), reader_of(kind).comments)
    assert problems == []
    return found


def covers(text: str, kind: str = "python") -> list[tuple[int, int]]:
    return [comment.covers for comment in read(text, kind)]


def finding(code: str, line: int, end_line: int | None = None, path: str = "a") -> Finding:
    span = Span(path, line, 1, end_line or line, 9)
    return Finding(code, "name", "error", "startup", "message", span)


class TestText:
    @pytest.mark.parametrize(
        ("comment", "codes", "reason"),
        [
            ("#mfsdp:ignore because", (), "because"),
            ("# mfsdp: ignore because", (), "because"),
            ("# mfsdp: ignore-file[MFSDP101] generated", ("MFSDP101",), "generated"),
            ("# mfsdp: ignore[MFSDP101, MFSDP2] both – known", ("MFSDP101", "MFSDP2"), "both – known"),
            ("# mfsdp: ignore[MFSDP101]: converted later", ("MFSDP101",), "converted later"),
            ("# noqa: E501  # mfsdp: ignore[MFSDP1,MFSDP1,] why  # fmt: skip", ("MFSDP1",), "why"),
        ],
    )
    @pytest.mark.parametrize("kind", ["python", "yaml"])
    def test_codes_and_reason(self, comment: str, codes: tuple[str, ...], reason: str, kind: str) -> None:
        (found,) = read(f"[1]  {comment}\n", kind)
        assert (found.codes, found.reason) == (codes, reason)

    def test_the_span_is_the_comment_itself(self) -> None:
        (found,) = read("é = 1  # noqa # mfsdp: ignore[MFSDP1] why  # more\n")
        assert found.span == Span("a", 1, 15, 1, 42)

    @pytest.mark.parametrize(
        ("comment", "message"),
        [
            ("# mfsdp: ignroe", 'unknown word "ignroe" in a comment: write "# mfsdp: ignore[CODE] reason"'),
            ("# mfsdp:", 'unknown word "" in a comment: write "# mfsdp: ignore[CODE] reason"'),
            ("# mfsdp: ignore[MFSDP101", "the bracket after ignore is not closed"),
            ("# mfsdp: ignore[]", 'no code in the brackets: name one, or write "# mfsdp: ignore reason" for all'),
            ("# mfsdp: ignore", 'it does not say why: write "# mfsdp: ignore reason"'),
            ("# mfsdp: ignore[MFSDP101] :", 'it does not say why: write "# mfsdp: ignore[MFSDP101] reason"'),
            ("# mfsdp: ignore-file[MFSDP1]", 'it does not say why: write "# mfsdp: ignore-file[MFSDP1] reason"'),
            ("# mfsdp: ignore[mfsdp101]", '"mfsdp101" is not a code'),
            ("# mfsdp: ignore[MFSDP101 MFSDP102]", '"MFSDP101 MFSDP102" is not a code'),
            ("# mfsdp: ignore MFSDP101", 'codes go in brackets: write "# mfsdp: ignore[CODE] reason"'),
            ("# mfsdp: ignore: MFSDP101", 'codes go in brackets: write "# mfsdp: ignore[CODE] reason"'),
        ],
    )
    @pytest.mark.parametrize("kind", ["python", "yaml"])
    def test_what_is_malformed_is_told_and_silences_nothing(self, comment: str, message: str, kind: str) -> None:
        found, (problem,) = comments("a", f"[1]\n[2] {comment}\n", reader_of(kind).comments)
        assert found == []
        assert (problem.path, problem.line, problem.column, problem.message) == ("a", 2, 5, message)
        assert problem.kind == "comment"


class TestPython:
    def test_a_line(self) -> None:
        assert covers("a = 1\nb = 2  # mfsdp: ignore so\nc = 3\n") == [(2, 2)]

    def test_alone_on_a_line_the_next_statement_too(self) -> None:
        assert covers("# mfsdp: ignore so\n# why\na = f(\n    1,\n)\nb = 2\n") == [(1, 5)]

    def test_a_statement_at_its_first_or_last_line_and_a_line_within(self) -> None:
        text = """\
            a = f(  # mfsdp: ignore so
                1,  # mfsdp: ignore so
                # mfsdp: ignore so
                2,
                # mfsdp: ignore so
            )  # mfsdp: ignore so
            b = 2
            """
        assert covers(text) == [(1, 6), (2, 2), (3, 4), (5, 6), (1, 6)]

    @pytest.mark.parametrize(
        "marked",
        [
            "# mfsdp: ignore so\n@one\n@two(\n)\ndef f(\n    a,\n):\n    if a:\n        pass\n\n    return a\n",
            "#\n@one  # mfsdp: ignore so\n@two(\n)\ndef f(\n    a,\n):\n    if a:\n        pass\n\n    return a\n",
            "#\n@one\n# mfsdp: ignore so\n@two(\n)\nasync def f(a):\n    if a:\n        pass\n    #\n\n    return a\n",
            "#\n@one\n@two(\n)\ndef f(  # mfsdp: ignore so\n    a,\n):\n    if a:\n        pass\n\n    return a\n",
            "#\n@one\n@two(\n)\nclass F(\n    a,\n):  # mfsdp: ignore so\n    if a:\n        pass\n\n    x = a\n",
        ],
        ids=["above the decorators", "on a decorator", "between decorators", "on the def line", "behind the header"],
    )
    def test_a_whole_function(self, marked: str) -> None:
        ((first, last),) = covers("before = 1\n" + marked + "\n\nafter = 2\n")
        assert first <= 6
        assert last == 12

    def test_a_nested_function_and_no_more(self) -> None:
        assert covers("def f():\n    def g():  # mfsdp: ignore so\n        a = 1\n    b = 2\n") == [(2, 3)]

    def test_a_function_at_the_end_of_the_file(self) -> None:
        assert covers("def f():  # mfsdp: ignore so\n    a = 1\n    b = 2") == [(1, 3)]

    def test_a_block_that_is_no_function_is_its_header(self) -> None:
        text = (
            "async def f():\n    async with x:  # mfsdp: ignore a\n        1\n    if a:  # mfsdp: ignore b\n        b\n"
        )
        assert covers(text) == [(2, 2), (4, 4)]

    def test_text_that_only_looks_like_a_comment(self) -> None:
        assert (
            covers('a = "# mfsdp: ignore so"\nb = """\n# mfsdp: ignore so\n"""\nc = f"{a} # mfsdp: ignore so"\n') == []
        )

    def test_other_comments(self) -> None:
        assert covers("# see mfsdp: ignore so\na = 1  # noqa\n") == []

    @pytest.mark.parametrize("rest", ["b = (\n", '"""\n', "  c\n d\n", "$ ? `\n", "a\\"])
    def test_a_file_that_is_no_python_keeps_what_comes_before(self, rest: str) -> None:
        assert covers("a = 1  # mfsdp: ignore so\n" + rest) == [(1, 1)]

    def test_windows_line_ends(self) -> None:
        assert covers("# mfsdp: ignore so\r\na = f(\r\n)\r\n") == [(1, 3)]


class TestYaml:
    def test_a_line_and_the_next(self) -> None:
        text = """\
            ddp:  # mfsdp: ignore so
              # mfsdp: ignore so
              # why
              a: [1,  # mfsdp: ignore so
                  2]
              # mfsdp: ignore so

              b: 1
            """
        assert covers(text, "yaml") == [(1, 1), (2, 4), (4, 4), (6, 7)]

    def test_text_that_only_looks_like_a_comment(self) -> None:
        text = """\
            a: "x # mfsdp: ignore so"
            b: 'x
              # mfsdp: ignore so'
            c: |
              # mfsdp: ignore so
            d: x#mfsdp: ignore so
            """
        assert covers(text, "yaml") == []

    def test_behind_the_head_of_a_block_scalar(self) -> None:
        assert covers("a: |  # mfsdp: ignore so\n  # mfsdp: ignore so\n# mfsdp: ignore so\nb: 1\n", "yaml") == [
            (1, 1),
            (3, 4),
        ]

    def test_without_libyaml(self, monkeypatch: pytest.MonkeyPatch) -> None:
        text = 'a: "# mfsdp: ignore so"  # mfsdp: ignore so\nb: >-\n  # mfsdp: ignore so\n\n# mfsdp: ignore so\n'
        fast = covers(text, "yaml")
        monkeypatch.delattr("yaml.CSafeLoader", raising=False)
        assert covers(text, "yaml") == fast == [(1, 1), (5, 6)]

    def test_a_file_that_is_no_yaml_keeps_what_comes_before(self) -> None:
        assert covers("a: 1  # mfsdp: ignore so\nb: [\n", "yaml") == [(1, 1)]


class TestShell:
    def test_a_line_and_the_next(self) -> None:
        assert covers("a=1  # mfsdp: ignore so\n# mfsdp: ignore so\nb=2\nc=3\n", "shell") == [(1, 1), (2, 3)]

    def test_a_command_of_several_lines_from_above_or_behind_it(self) -> None:
        launch = (
            "# mfsdp: ignore so\ntorchrun train.py \\\n  --use-megatron-fsdp \\\n  --bf16  # mfsdp: ignore so\nb=2\n"
        )
        assert covers(launch, "shell") == [(1, 4), (2, 4)]

    def test_a_whole_function(self) -> None:
        assert covers("launch() {  # mfsdp: ignore so\n  a=1\n  b=2\n}\nc=3\n", "shell") == [(1, 4)]

    def test_text_that_only_looks_like_a_comment(self) -> None:
        assert covers("a='# mfsdp: ignore so'\ncat <<E\n# mfsdp: ignore so\nE\n", "shell") == []


@pytest.mark.parametrize("kind", ["python", "yaml", "shell"])
def test_a_whole_file(kind: str) -> None:
    assert covers("# mfsdp: ignore-file[MFSDP101] generated\n\n# more\n\n", kind) == [(1, 4)]


class TestSuppress:
    def silenced(self, text: str, *findings: Finding) -> list[str | None]:
        result = suppress(findings, {"a": read(text)})
        return [one.suppressed.reason if one.suppressed else None for one in result.findings]

    def test_a_finding_on_the_line_and_no_other(self) -> None:
        text = "a = 1\nb = 2  # mfsdp: ignore[MFSDP101] known\n"
        findings = [finding("MFSDP101", 2), finding("MFSDP101", 1), finding("MFSDP102", 2), finding("X", 2, path="b")]
        assert self.silenced(text, *findings) == ["known", None, None, None]

    def test_a_prefix_and_no_code_at_all(self) -> None:
        text = "a = 1  # mfsdp: ignore[MFSDP1] prefix\nb = 2  # mfsdp: ignore all\n"
        findings = [finding("MFSDP101", 1), finding("MFSDP201", 1), finding("MFSDP201", 2)]
        assert self.silenced(text, *findings) == ["prefix", None, "all"]

    def test_any_line_of_the_finding_will_do(self) -> None:
        text = "a = f(\n    1,  # mfsdp: ignore known\n)\n"
        assert self.silenced(text, finding("X", 1, 3), finding("X", 1, 2), finding("X", 3)) == ["known", "known", None]

    def test_the_narrowest_comment_gives_the_reason(self) -> None:
        text = "def f():  # mfsdp: ignore wide\n    a = 1  # mfsdp: ignore narrow\n    b = 2\n"
        assert self.silenced(text, finding("X", 2), finding("X", 3)) == ["narrow", "wide"]

    def test_everything_but_the_mark_stays_and_so_does_the_order(self) -> None:
        findings = [finding("X", 2), finding("X", 1)]
        assert suppress(findings, {}).findings == findings

    def test_comments_and_codes_that_silence_nothing_are_told(self) -> None:
        text = """\
            a = 1  # mfsdp: ignore[MFSDP101, MFSDP2] so
            b = 2  # mfsdp: ignore so
            c = 3  # mfsdp: ignore so
            d = 4  # mfsdp: ignore[MFSDP1] so
            """
        result = suppress([finding("MFSDP101", 1), finding("MFSDP101", 2)], {"a": read(text)})
        assert [(comment.span.line, comment.codes) for comment in result.unused] == [
            (1, ("MFSDP2",)),
            (3, ()),
            (4, ("MFSDP1",)),
        ]


def test_a_file_without_the_word_is_not_looked_at(tmp_path: Path) -> None:
    assert comments(str(tmp_path), "a = (", reader_of("python").comments) == ([], [])


def test_thousands_of_comments_are_no_comments_of_people() -> None:
    found, problems = comments("a", "# mfsdp: ignore so\n" * 50_000, reader_of("yaml").comments)
    assert len(found) == MOST
    assert [(each.line, each.message) for each in problems] == [
        (MOST + 1, "more than 1000 in a file: from here on none counts")
    ]

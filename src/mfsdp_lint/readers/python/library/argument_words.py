"""Assignment of the words of a command line to options, as argparse does it.

After `_parse_known_args` of CPython 3.12.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from mfsdp_lint.core.records import dataclass, field, replace
from mfsdp_lint.readers.given_words import HOLE, GivenWord
from mfsdp_lint.readers.python.state.paths import Raised

Number = int | str | None
"""How many words an option takes: so many, "?", "*", "+", "..." (all that follow), or None: one."""

_NEGATIVE = re.compile(r"-\d+$|-\d*\.\d+$")


class NotFollowed(Exception):
    """A command line whose words cannot be assigned to options with certainty."""


@dataclass(frozen=True, slots=True)
class Spec:
    """An option, or a positional argument (without names): where it goes and how many words it takes."""

    names: tuple[str, ...]
    destination: str
    number: Number = None
    action: str = "store"


@dataclass(frozen=True, slots=True)
class Use:
    """An option as it is given, by which name, with its words. `flag` is the word that names it."""

    spec: Spec
    name: str
    words: tuple[GivenWord, ...]
    flag: GivenWord | None = None


@dataclass(slots=True)
class Taken:
    """The uses that were read from the words, in their order, and the words that nothing takes."""

    uses: list[Use] = field(default_factory=list)
    rest: list[GivenWord] = field(default_factory=list)


def take(specs: Sequence[Spec], words: Sequence[GivenWord], abbreviated: bool = True) -> Taken:
    """Give each word to an option or argument. Raises NotFollowed, and Raised where argparse refuses them."""
    return _Taking(specs, words, abbreviated).all()


class _Taking:
    def __init__(self, specs: Sequence[Spec], words: Sequence[GivenWord], abbreviated: bool) -> None:
        self.options: Mapping[str, Spec] = {name: spec for spec in specs for name in spec.names}
        self.positional = [spec for spec in specs if not spec.names]
        self.words = words
        self.abbreviated = abbreviated
        self.taken = Taken()
        self.at = 0
        self.began = False

    def all(self) -> Taken:
        if self.positional and any(word.text == "--" for word in self.words):
            raise NotFollowed  # releases of Python differ in who has the dashes
        while self.at < len(self.words):
            word = self.words[self.at]
            if word.nothing:
                self.at += 1
                continue
            found = None if self._is_argument(self.at) else self._named(word)
            if found is not None:
                self.at += 1
                self._option(*found, word)
            elif self._is_argument(self.at):
                self._arguments()
            else:
                self.at += 1
                self.taken.rest.append(word)
        return self.taken

    def _is_argument(self, at: int) -> bool:
        """Tell whether a word is no option, known or not (`_parse_optional`)."""
        text = self.words[at].text
        if any(word.text == "--" for word in self.words[:at]) or not text.startswith("-") or text == "-":
            return True
        if text == "--" or self._named(self.words[at]) is not None:
            return False
        numbers = _NEGATIVE.match(text) and not any(_NEGATIVE.match(name) for name in self.options)
        return bool(numbers) or " " in text

    def _named(self, word: GivenWord) -> tuple[Spec, str, GivenWord | None] | None:
        """Return the option that a word names, and the value within the word."""
        name, equals, _ = word.text.partition("=")
        if HOLE in name:
            raise NotFollowed
        if word.text in self.options:
            return self.options[word.text], word.text, None
        value = _cut(word, len(name) + 1) if equals else None
        if name in self.options:
            return self.options[name], name, value
        if name.startswith("--"):
            meant = [each for each in self.options if self.abbreviated and each.startswith(name) and name != "--"]
            if len({id(self.options[each]) for each in meant}) > 1:
                raise Raised("SystemExit", f"ambiguous option: {name}")
            return (self.options[meant[0]], meant[0], value) if meant else None
        short = word.text[:2]
        return (self.options[short], short, _cut(word, 2)) if short in self.options and len(word.text) > 2 else None

    def _option(self, spec: Spec, name: str, value: GivenWord | None, flag: GivenWord) -> None:
        if value is not None:
            self.taken.uses.append(Use(spec, name, (value,), flag))
            return
        found = list(self._following(spec.number))
        if (spec.number in (None, "+") and not found) or (isinstance(spec.number, int) and len(found) < spec.number):
            raise Raised("SystemExit", f"argument {name}: expected an argument")
        self.taken.uses.append(Use(spec, name, tuple(found), flag))

    def _following(self, number: Number) -> Iterator[GivenWord]:
        most = 1 if number in (None, "?") else number if isinstance(number, int) else len(self.words)
        for _ in range(most):
            if self.at >= len(self.words) or (number != "..." and not self._is_value(self.at)):
                return
            word = self.words[self.at]
            if number in (None, "?") or isinstance(number, int) or not word.nothing:
                self._is_one(word, number)
                yield word
            self.at += 1

    def _is_one(self, word: GivenWord, number: Number) -> None:
        """Check that a word that may be several fills a single place. Raises NotFollowed where it does not."""
        if word.several and number is not None:
            raise NotFollowed

    def _is_value(self, at: int) -> bool:
        return self.words[at].text != "--" and self._is_argument(at)

    def _arguments(self) -> None:
        """Give the next words that are no options to the positional arguments, in their order."""
        if self.positional and self.began and self.positional[0].number in ("*", "?", "..."):
            raise NotFollowed  # releases of Python differ in whether the words before were all that it takes
        self.began = True
        while self.positional and self.at < len(self.words) and self._is_argument(self.at):
            spec = self.positional.pop(0)
            found = tuple(self._following(spec.number))
            self.taken.uses.append(Use(spec, spec.destination, found))
        while self.at < len(self.words) and self._is_argument(self.at):
            word = self.words[self.at]
            self._is_one(word, 0)
            self.taken.rest += [] if word.nothing else [word]
            self.at += 1


def _cut(word: GivenWord, start: int) -> GivenWord:
    """Return the part of a word behind an offset."""
    return replace(word, text=word.text[start:])

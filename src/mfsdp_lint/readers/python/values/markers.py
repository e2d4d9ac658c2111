"""Markers: keys that no program can write, among the fields or writes of an object.

They stand beside the names and entries, and not in slots of their own, so that the one journal undoes them too.
"""

from __future__ import annotations

from typing import Final

from mfsdp_lint.core.records import dataclass


@dataclass(slots=True, eq=False)
class Marker:
    """A key that is only itself; `name` is for who debugs."""

    name: str

    def __repr__(self) -> str:
        return f"<{self.name}>"


# Under `writes` of an object:
MAY_HAVE_CHANGED: Final = Marker("hazy")
"""Something out of sight may have changed it: it may hold other values, and more of them, than it shows."""
TAKEN_AWAY: Final = Marker("taken away")
"""Of a dictionary that may hold more than it shows: the keys that it surely does not hold, unless it shows them."""
UNKNOWN_KEYS: Final = Marker("stray")
"""Of a dictionary: the objects that were stored under keys that are not known."""
MADE: Final = Marker("made")
"""Of the namespace that a metaclass is given: the class that is being made."""
FACTORY: Final = Marker("factory")
"""Of a `defaultdict`: what makes an entry that is missing."""

OBSTACLE: Final = Marker("obstacle")
"""Of a dictionary or a list whose contents are not known: the unfollowed call that made them so. (A list has it under
its fields.)"""

# Under `fields` of a list:
LOADED: Final = Marker("loaded")
"""Of a list that was loaded from data: its elements as they were, and the place of each in the data."""

# Under `fields` of an unknown value, what it is:
EITHER: Final = Marker("either")
"""An object that is one of several (`config or other`): these objects."""
COPY_OF: Final = Marker("copy of")
"""A copy of another unknown value: that value. As far as it was a constant, both are the same."""
NOT_OF: Final = Marker("not of")
"""The negation of another value: that value."""
ABOUT: Final = Marker("about")
"""The answer to a question: what was compared, kept so that its number stays its own."""
EQUAL: Final = Marker("equal")
"""The answer to `subject == constant`: both. Where it is true, the subject is the constant."""
ALIKE: Final = Marker("alike")
"""The answer to `subject == 0` or `== 1`: the subject, and the constant's truth, which is all that is learnt."""
AMONG: Final = Marker("among")
"""The answer to `subject in constants`: these constants, as they were."""
CONNECTED: Final = Marker("connected")
"""The answer to `a and b`, or `a or b`: which of the two, and the operands."""
FORMER: Final = Marker("former")
"""A part of an unknown object that code out of sight may have changed: what it was (see state/forgetting.py)."""
CONFIGURATION: Final = Marker("configuration")
"""A result of code out of sight that was given a configuration: where it is launched, it is one."""
METHOD_OF: Final = Marker("method of")
"""An attribute or entry that is out of sight, or whose name is not known: its owner, which a call of it may change."""
ROW_OF: Final = Marker("row of")
"""An entry of a table of functions or classes at a key that is not known: the key, its text, and the rows."""

# Among the variables of a process, with the name of one:
PUT: Final = Marker("put")
"""A variable that is set for the programs that are started, and not for the program itself."""

# Under `fields` of an unknown value, what it holds:
REST: Final = Marker("rest")
"""The parts that nobody had asked for when it was copied, which its copies share. With HAZY beside it they may have
changed since."""

# Under `fields` of a tree of OmegaConf:
WHOLE: Final = Marker("whole")
"""True where it has no other entries than it shows. What is forgotten of a tree takes this along."""

SCHEMA: Final = Marker("schema")
"""The dataclass that it was made from: it says the entries, and `to_object` makes an object of it."""

# Under `fields` of a tree of OmegaConf and of an object, and under `writes` of a dictionary:
LACKED: Final = Marker("lacked")
"""The writes to names that it does not have, as a tuple of Lacked: overrides that nothing takes."""

# Under `writes` of a dictionary of a class:
ATTRIBUTES: Final = Marker("attributes")
"""Its entries are its attributes as well: `self.__dict__ = self`."""

# Under `fields` of an option:
ACCEPTS: Final = Marker("accepts")
"""The type of the values that it may be given as they are, and those that it may have, None for any."""

# Under `fields` of an unknown value, what was asked of it:
NOT: Final = Marker("not")
"""Its negation."""
QUESTION: Final = Marker("question")
"""(QUESTION, kind of comparison, with what): the answer."""
MODEL_ID: Final = Marker("model id")
"""The Hugging Face model that a configuration was loaded for."""
TASK: Final = Marker("task")
"""A function that runs later: the function, its positional arguments, and whether it is there to make one of those of
another task. Its keyword arguments are the other fields."""
STARTS: Final = Marker("starts")
"""An object that others start: the commands, as they are without those."""
OPTIONS: Final = Marker("options")
"""A parser of a command line: what its options come to, by their attributes."""
SPECS: Final = Marker("specs")
"""A parser of a command line: how its options and arguments take words (library/command_line.py), by their names."""
ARGUMENTS: Final = Marker("arguments")
"""Megatron-LM's parsed arguments (library/megatron_lm.py): True, and under `writes` the call that parsed
them."""
COMPLETE: Final = Marker("complete")
"""Of Megatron-LM's parsed arguments: True where what nobody gives has the parser's default; None where nobody is known
to start the program, False where there may be further words."""
IGNORED: Final = Marker("ignored")
"""Of Megatron-LM's parsed arguments: a dictionary of the defaults that they were given in vain."""
VALIDATED: Final = Marker("validated")
"""Megatron-LM's parsed arguments behind their validation: nothing checks what is assigned to them then."""
WORD: Final = Marker("word")
"""A word of the command line that the program is started with: the word, as whoever starts it wrote it."""

ARGV: Final = Marker("sys.argv")
"""Among the variables of the process: the list that the program has put in place of its words, or has changed."""

IN_SOME_ORDER: Final = Marker("in some order")
"""The elements of a listing whose order is the file system's: a list of them, by name."""

ENTRIES: Final = Marker("entries")
"""Of a parser of INI files: the places of its options, by section and name."""

HELD: Final = Marker("held")
"""The object of the standard library that a value holds, where methods may change it."""

# Among what a path launched:
HANDED: Final = Marker("handed")
"""The configurations that a call gave to code out of sight, in each turn of its loop: those of the last call."""

IDENTITY: Final = frozenset(
    (
        *(EITHER, COPY_OF, NOT_OF, ABOUT, EQUAL, ALIKE, AMONG, CONNECTED),
        *(FORMER, CONFIGURATION, METHOD_OF, ROW_OF, ARGUMENTS, IGNORED),
    )
)
"""Markers that identify an unknown value, and do not say what it holds."""

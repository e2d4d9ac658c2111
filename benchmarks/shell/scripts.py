"""Scripts made by chance, of what launch scripts are made of."""

from __future__ import annotations

from random import Random

NAMES = ("A", "B", "C", "D")
_EDITS = ("%.*", "##*/", "#a", "//a/b", "/b/c", ":+w", "+--alt v", "^^", ",,", ":0:2", ":1")
_DEFAULTS = ("d", '"d e"', "d e", "$B")
_TEXTS = ("--a 1 --b", "x")
_CONNECTIONS = ("1", "8", "$A", '"$B"')
_ADDED = ("z", "$C", '" q"')
_CONDITIONS = (
    '[ "${N}" = a ]',
    "[[ ${N} == *a* ]]",
    '[ -n "${N}" ]',
    '[ -z "${N}" ]',
    '[[ -n ${N} && "$B" != x ]]',
    "[[ $N =~ ^a ]]",
    "true",
    "false",
    "((1 < 2))",
    "[ ${#A[@]} -gt 1 ]",
    '! [ "$N" = b ]',
    'test "$N" = a',
    '[ "$N" = a -o "$B" = b ]',
    "[[ $N -gt 3 ]]",
    "[[ -v N ]]",
)


def script(seed: int) -> str:
    """Write one script. It launches something at its end, and perhaps before."""
    chance = Random(seed)
    body = "\n".join(_statement(chance, 0) for _ in range(chance.randrange(3, 10)))
    return f'A=a\nB="b b"\nC=(c "d e")\nD=\n{body}\ntorchrun last.py $A "$B" "${{C[@]}}" $D\n'


def _word(chance: Random) -> str:
    name = chance.choice(NAMES)
    return chance.choice(
        (
            lambda: chance.choice(["a", "--x", "b=c", "x.y", "1", "7", "foo-bar", "p/q.r"]),
            lambda: chance.choice(['"a b"', '""', '"--k v"', '" lead"', "'a b'", "'$A'", "$'a\\tb'"]),
            lambda: chance.choice([f"${name}", f'"${name}"', f"${{{name}}}", f'"${{{name}}}"']),
            lambda: f"${{{name}:-{chance.choice(_DEFAULTS)}}}",
            lambda: f'"${{{name}:-d e}}"',
            lambda: chance.choice([f"${{{name}[@]}}", f'"${{{name}[@]}}"', f'"${{{name}[*]}}"', f"${{{name}[0]}}"]),
            lambda: chance.choice([f"a${{{name}}}b", f'"x ${{{name}}} y"', f"--o=${{{name}}}", f'--o="${name}"']),
            lambda: f"${{{name}{chance.choice(_EDITS)}}}",
            lambda: chance.choice(["$((1+2))", '"$(echo hi there)"', "$(echo p q)", "a\\ b", '"q\\"r"', '"t\\$u"']),
            lambda: chance.choice([f"${{#{name}}}", f"${{#{name}[@]}}", "${E:-e}", "${E[0]:-e}", "{x,y}", "z{1..3}"]),
        )
    )()


def _condition(chance: Random) -> str:
    return chance.choice(_CONDITIONS).replace("N", chance.choice(NAMES))


def _statement(chance: Random, depth: int) -> str:
    name = chance.choice(NAMES)

    def inner() -> str:
        return _statement(chance, depth + 1)

    simple = (
        lambda: f"{name}={_word(chance)}",
        lambda: f"{name}=({_word(chance)} {_word(chance)})",
        lambda: f"{name}+=({_word(chance)})",
        lambda: f'{name}="{chance.choice(_TEXTS)} ${chance.choice(NAMES)}"',
        lambda: f"export CUDA_DEVICE_MAX_CONNECTIONS={chance.choice(_CONNECTIONS)}",
        lambda: f"unset {chance.choice(['CUDA_DEVICE_MAX_CONNECTIONS', name])}",
        lambda: (
            chance.choice(["", "CUDA_DEVICE_MAX_CONNECTIONS=2 ", "env CUDA_DEVICE_MAX_CONNECTIONS=3 "])
            + f"torchrun x.py {_word(chance)} {_word(chance)} {_word(chance)}"
        ),
        lambda: f"{name}+={chance.choice(_ADDED)}",
        lambda: f"{_condition(chance)} && {name}=yes",
        lambda: f"{_condition(chance)} || {name}=no",
        lambda: f"export {name}",
        lambda: f"{name}[1]={_word(chance)}",
    )
    nested = (
        lambda: f"if {_condition(chance)}; then\n{inner()}\nelse\n{inner()}\nfi",
        lambda: f"if {_condition(chance)}; then\n{inner()}\nelif {_condition(chance)}; then\n{inner()}\nfi",
        lambda: f"for {name} in {_word(chance)} v w; do\n{inner()}\ndone",
        lambda: f'case "${name}" in a*) {inner()}\n;; *b|x) {inner()}\n;; *) {inner()}\n;; esac',
        lambda: f"( {inner()}\n)",
        lambda: f"f() {{\nlocal {name}=$1\n{inner()}\n}}\nf {_word(chance)} {_word(chance)}",
        lambda: f'f() {{\n{inner()}\ntorchrun f.py "$@" $#\n}}\nf {_word(chance)} {_word(chance)}',
        lambda: f'eval "torchrun y.py ${name} {chance.choice(_ADDED[:2])}"',
        lambda: f'{name}=$(cat <<EOF\ntorchrun h.py ${chance.choice(NAMES)} k\nEOF\n)\neval "${name}"',
        lambda: f'torchrun z.py "${{{name}[@]}}" <<EOF\nx\nEOF',
        lambda: "bash -c 'torchrun w.py $CUDA_DEVICE_MAX_CONNECTIONS'",
        lambda: f"cat > job.sh <<EOF\ntorchrun j.py ${name} \\$CUDA_DEVICE_MAX_CONNECTIONS\nEOF\nbash job.sh",
    )
    return chance.choice(simple if depth >= 2 else (*simple, *nested))()

"""The classes of traps, each a function that draws a project."""

from benchmarks.users.kinds import python, shell, yaml
from benchmarks.users.project import Draw

KINDS: tuple[Draw, ...] = (
    shell.shared_variable,
    shell.shared_words,
    shell.shared_function,
    shell.variable_read,
    shell.array_twice,
    shell.computed_source,
    shell.dotenv,
    shell.branches,
    shell.array_read,
    python.helper_out_of_sight,
    python.shared_constant,
    python.shared_default,
    python.two_ways,
    python.shared_table,
    python.shared_offloading,
    python.shared_environment,
    python.argument_list,
    python.inherited_default,
    python.more_ways,
    python.made_at_import,
    yaml.shared_yaml,
    yaml.extended_yaml,
    yaml.own_yaml,
    yaml.launching_yaml,
)

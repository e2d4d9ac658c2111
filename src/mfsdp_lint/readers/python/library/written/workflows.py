"""Frameworks that call the steps of a program."""


__name__ = "metaflow"
"""Behaviour of `metaflow` (2.19, flowspec.py, parameters.py): an object of a flow runs its steps, each of which names the next ones."""


class FlowSpec:
    def __init__(self, use_cli=True): self.start()

    def next(self, *steps, foreach=None, num_parallel=None, condition=None):
        for step in steps:
            if isinstance(step, dict):
                for each in step.values():
                    each()
            else:
                try:
                    step()
                except TypeError:
                    step([self])


class Parameter:
    def __init__(self, name, default=None, **settings): self.default = default
    def __get__(self, owner, cls=None): return self.default

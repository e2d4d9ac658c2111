"""The dry run: what the linter says of a recipe, tried out with the real Megatron on a tiny model.

    recipe ──► settings ──► tier (introspect, cpu, gpu) ──► outcomes ──► verdicts ──► report

Everything that imports torch is under worker/, and runs in processes of its own, with a Python that has it.
"""

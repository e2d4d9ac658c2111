"""The data that travels between the stages: values, recipes, findings. It depends on nothing else here."""

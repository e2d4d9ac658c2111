"""A tracking service."""


def log_params(**params):
    return sorted(params)

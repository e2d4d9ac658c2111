"""What all tests share: property tests have no time limit, since machines differ."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

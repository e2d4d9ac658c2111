"""Makes the generated part of the vocabulary out of upstream source."""

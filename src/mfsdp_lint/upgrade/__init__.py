"""Moving recipes from one Megatron-Bridge release to another: the breaks, the silent changes, and the edits."""

"""Instructions for agents about Megatron-FSDP, from the rules and the vocabulary: skills/megatron-fsdp."""

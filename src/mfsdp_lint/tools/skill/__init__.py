"""What agents are told of Megatron-FSDP, from the rules and the vocabulary: skills/megatron-fsdp."""

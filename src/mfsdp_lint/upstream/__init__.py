"""What is known of the Megatron releases, and which of them a run is judged against."""

"""Facts about Megatron that need no source: releases, settings, start-up, conditions, frameworks on top."""

"""Rules as data: their form (model), their conditions, where they come from, and how recipes are judged by them."""

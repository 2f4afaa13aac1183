"""The learner protocol and its foundations: rounds, sources, validation, state, serialization and the registry."""

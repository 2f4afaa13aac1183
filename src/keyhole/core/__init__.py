"""What a learner is: the protocol, rounds, sources, validation, state, serialization and the registry."""

"""The pages for people: server-rendered HTML."""

"""Random scenes of many families, each by Cairn and by Rapier in one run: what stands, what moves, what it costs."""

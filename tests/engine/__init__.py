"""What SQL alone can't say of the engine: threads, clocks, kills, chance."""

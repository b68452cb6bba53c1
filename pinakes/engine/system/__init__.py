"""System tables as queries read them: who asks, what of a table a plan wants, and its rows in the plan's place."""

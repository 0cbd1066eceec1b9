"""L5: executing primitives now (eager) or as compiled graphs."""

"""Studies by a plan: `implicature play --study plan.json`."""

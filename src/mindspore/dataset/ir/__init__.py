"""The pipeline as a stateless tree: what to do, not how. API classes build it, `opt` rewrites it, `runtime` runs it."""

"""Where intermediate tensors live: one arena per graph, reused as lifetimes end."""

"""Graph rewriting: an op-indexed pattern matcher, named rules by theme, and the ordered list of passes."""

"""Control flow in graphs: joining branch results and closing branch graphs over what they use."""

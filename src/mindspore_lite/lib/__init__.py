"""Where MindSpore Lite's own wheel has its compiled parts."""

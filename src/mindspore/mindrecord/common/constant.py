"""Numbers that go into MindRecord's error codes."""

SYS_ID = 42

"""The messages between clients and servers: FlatBuffers bodies over HTTP."""

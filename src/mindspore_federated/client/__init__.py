"""The client side of horizontal training: the connection to servers and a client that trains."""

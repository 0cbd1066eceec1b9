"""How clients speak to the server. Façade: nothing is re-exported."""

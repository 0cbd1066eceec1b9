"""The web server: official REST routes, a live channel, pages."""

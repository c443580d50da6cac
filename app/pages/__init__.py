"""The pages: a template filled on the server, a few components in it, and the desk that joins them."""

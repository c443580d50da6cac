"""A run as pictures: plain values that the page draws and the static pages print."""

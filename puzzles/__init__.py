"""What is asked: exercises, beliefs, checking, and the views of a run as plain values and tables."""

"""What is seen: the learner's pages, the store behind them, the engine worker, the web routes."""

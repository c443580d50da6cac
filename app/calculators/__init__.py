"""Calculators beside the exercises: plain forms that work without a script."""

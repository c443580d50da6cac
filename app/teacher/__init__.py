"""The teacher's page: a server in a process of its own that reads the store and writes decisions.

Plain HTTP on Tornado: neither Panel nor torch is loaded, and a storm of learners cannot slow it down.
"""

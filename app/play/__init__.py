"""Free play: traces and settings of one's own, runs side by side, what differs, links and files.

``child`` is a process of its own that runs the ledger and draws; ``Bench`` is the server's end of its
pipe. A ``Sheet`` is all that a visitor has set; what is made of it depends on nothing else.
"""

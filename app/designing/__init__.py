"""The transfer task on the page: plain forms and plain pages, the same six steps, no script needed."""

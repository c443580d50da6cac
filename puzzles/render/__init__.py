"""The tables of a run as HTML fragments: the static pages print them, the live page shows them "as a table".

Every function takes finished values and a language, and returns escaped markup. The rules of
``tables.css`` style them; its names are explained at the top of ``style.css``.
"""

from puzzles.render.environment import environment, page_styles, table_styles
from puzzles.render.tables import (
    answers_table,
    belief_block,
    chart_figure,
    evidence_table,
    items_table,
    log_table,
    metrics_table,
    page_counts_table,
    pages_table,
    quantization_table,
    quantization_tables,
    requests_table,
    rule_card,
    sheet_table,
    story_table,
    strip_table,
    timeline_table,
    trace_table,
)

__all__ = [
    "answers_table",
    "belief_block",
    "chart_figure",
    "environment",
    "evidence_table",
    "items_table",
    "log_table",
    "metrics_table",
    "page_counts_table",
    "page_styles",
    "pages_table",
    "quantization_table",
    "quantization_tables",
    "requests_table",
    "rule_card",
    "sheet_table",
    "story_table",
    "strip_table",
    "table_styles",
    "timeline_table",
    "trace_table",
]

// One cell cursor for a table with role=grid: one cell can be tabbed to, arrow keys move it.

/** `table`'s cursor. `enter(cell)` and `leave(cell)` follow the focus, `press(cell)` is Enter or Space. */
export class GridCursor {
  constructor(table, { enter, leave, press }) {
    this.table = table
    this.row = 0
    this.column = 0
    this.current = null
    this.enter = enter
    this.press = press
    table.addEventListener("keydown", (event) => this.key(event))
    table.addEventListener("focusin", (event) => this.focused(event.target.closest("[role=gridcell]")))
    table.addEventListener("focusout", () => leave())
    table.addEventListener("click", (event) => {
      const cell = event.target.closest("[role=gridcell]")
      if (cell) { cell.focus(); press(cell) }
    })
  }

  get rows() {
    return [...this.table.rows].map((row) => [...row.cells].filter((cell) => cell.getAttribute("role") === "gridcell"))
      .filter((row) => row.length)
  }

  /** After the table was rebuilt: the cursor stays where it was, as far as there is such a cell. */
  reset() {
    this.current = null
    this.choose(this.at(this.rows))
  }

  /** Make `cell` the one that can be tabbed to. */
  choose(cell) {
    if (this.current) this.current.tabIndex = -1
    this.current = cell ?? null
    if (cell) cell.tabIndex = 0
  }

  at(rows) {
    this.row = Math.max(0, Math.min(this.row, rows.length - 1))
    this.column = Math.max(0, Math.min(this.column, (rows[this.row]?.length ?? 1) - 1))
    return rows[this.row]?.[this.column]
  }

  focused(cell) {
    if (!cell) return
    const rows = this.rows
    this.row = rows.findIndex((row) => row.includes(cell))
    this.column = rows[this.row].indexOf(cell)
    this.choose(cell)
    this.enter(cell)
  }

  key(event) {
    const cell = event.target.closest("[role=gridcell]")
    if (!cell || event.ctrlKey || event.metaKey || event.altKey) return
    const moves = {
      ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], Home: [0, -1000], End: [0, 1000],
    }
    if (event.key in moves) {
      const [down, right] = moves[event.key]
      this.row += down
      this.column += right
      this.at(this.rows)?.focus()
    } else if (event.key === "Enter" || event.key === " ") {
      this.press(cell)
    } else {
      return
    }
    event.preventDefault()
    event.stopPropagation()
  }
}

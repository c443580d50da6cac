// One cursor for a list of pieces: one of them can be tabbed to, the arrow keys move it.

/** `list`'s cursor. `enter(item)` and `leave()` follow the focus and the pointer. */
export class Roving {
  constructor(list, { enter, leave }) {
    this.list = list
    this.place = 0
    list.addEventListener("keydown", (event) => this.key(event))
    list.addEventListener("focusin", (event) => this.focused(event.target, enter))
    list.addEventListener("focusout", leave)
    list.addEventListener("pointerover", (event) => { const item = event.target.closest("li"); if (item) enter(item) })
    list.addEventListener("pointerleave", leave)
  }

  /** What can be stood on: a piece that goes on in the next line is one. */
  get items() { return [...this.list.children].filter((item) => !item.hasAttribute("aria-hidden")) }

  /** Show `children` instead; the cursor stays where it was, and keeps the focus it had. */
  renew(children) {
    const inside = this.list.getRootNode().activeElement
    const held = inside !== null && this.list.contains(inside)
    this.list.replaceChildren(...children)
    this.items.forEach((item) => { item.tabIndex = -1 })
    this.choose(this.place)
    if (held) this.items[this.place]?.focus()
  }

  choose(place) {
    const items = this.items
    if (items[this.place]) items[this.place].tabIndex = -1
    this.place = Math.max(0, Math.min(place, items.length - 1))
    if (items[this.place]) items[this.place].tabIndex = 0
  }

  focused(item, enter) {
    const place = this.items.indexOf(item)
    if (place < 0) return
    this.choose(place)
    enter(item)
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const moves = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -1e6, End: 1e6 }
    if (!(event.key in moves)) return
    this.choose(this.place + moves[event.key])
    this.items[this.place]?.focus()
    event.preventDefault()
    event.stopPropagation()
  }
}

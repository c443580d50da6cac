// The timelines as a PNG: title, settings, one row per request, and the legend, readable on a slide.
// Drawn on a canvas from the same views that the page shows; always dark on white.

const COLOURS = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#d55e00", "#0072b2", "#8a8f98"]
const INK = "#1c2024"
const MUTED = "#565d64"
const LINE = "#c6cbc8"
const BAD = "#a32d12"
const FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'Noto Sans CJK SC', 'Microsoft YaHei', sans-serif"
const WIDEST = 12000 // pixels a canvas may have
const KINDS = ["waiting", "prefill", "first", "decode", "last", "blocked", "seat", "recompute", "preempted", "refused", "cancelled", "failed"]

/** A PNG of `runs`, in the order of `names` where there are some. */
export async function picture(runs, names, { title, settings, words }) {
  const chosen = names.map((name) => runs.find((run) => run.timeline.name === name)).filter(Boolean)
  const lines = (chosen.length ? chosen : runs).map((run) => run.timeline)
  const shape = measure(lines)
  const drawing = new Drawing(shape, words)
  drawing.head(title, settings)
  lines.forEach((line) => drawing.run(line))
  drawing.legend(lines)
  return drawing.blob()
}

function measure(lines) {
  const columns = Math.max(1, ...lines.map((line) => line.ms.length))
  const cell = Math.max(7, Math.min(26, Math.floor(1400 / columns)))
  const rows = lines.reduce((sum, line) => sum + line.rows.length, 0)
  const name = 190
  const width = Math.max(900, name + columns * cell + 40)
  const height = 120 + lines.length * 66 + rows * 30 + 90
  return { columns, cell, name, width, height, scale: Math.min(2, WIDEST / width, WIDEST / height) }
}

class Drawing {
  constructor(shape, words) {
    this.shape = shape
    this.words = words
    this.canvas = document.createElement("canvas")
    this.canvas.width = Math.round(shape.width * shape.scale)
    this.canvas.height = Math.round(shape.height * shape.scale)
    this.pen = this.canvas.getContext("2d")
    this.pen.scale(shape.scale, shape.scale)
    this.pen.fillStyle = "#ffffff"
    this.pen.fillRect(0, 0, shape.width, shape.height)
    this.y = 20
  }

  text(text, x, y, { size = 16, weight = 400, colour = INK, room = null, align = "left" } = {}) {
    this.pen.font = `${weight} ${size}px ${FONT}`
    this.pen.fillStyle = colour
    this.pen.textAlign = align
    this.pen.textBaseline = "middle"
    this.pen.fillText(room === null ? text : this.fitting(text, room), x, y)
  }

  /** `text`, cut where there is no room for all of it. */
  fitting(text, room) {
    let shown = text
    while (shown.length > 1 && this.pen.measureText(shown).width > room) shown = `${shown.slice(0, -2)}…`
    return shown
  }

  head(title, settings) {
    const room = this.shape.width - 40
    this.text(title, 20, this.y + 10, { size: 24, weight: 600, room })
    this.text(settings, 20, this.y + 42, { size: 15, colour: MUTED, room })
    this.y += 70
  }

  run(line) {
    const { name, cell } = this.shape
    this.text(line.title, 20, this.y + 14, { size: 18, weight: 600, room: this.shape.width - 40 })
    this.y += 30
    const every = Math.max(1, Math.ceil(40 / cell / 5)) * 5
    for (let tick = 0; tick < line.ms.length; tick += every) {
      const time = Number((tick * line.tick_seconds).toFixed(6))
      this.text(`${tick} · ${time} s`, name + tick * cell, this.y + 8, { size: 12, colour: MUTED })
      this.stroke(name + tick * cell + 0.5, this.y + 16, name + tick * cell + 0.5, this.y + 20)
    }
    this.y += 22
    line.rows.forEach((row) => this.row(row))
    this.y += 14
  }

  stroke(x1, y1, x2, y2, colour = LINE, width = 1) {
    this.pen.strokeStyle = colour
    this.pen.lineWidth = width
    this.pen.beginPath()
    this.pen.moveTo(x1, y1)
    this.pen.lineTo(x2, y2)
    this.pen.stroke()
  }

  row(row) {
    const { name, cell } = this.shape
    const colour = COLOURS[row.colour % COLOURS.length]
    this.pen.fillStyle = colour
    this.pen.fillRect(20, this.y + 3, 8, 22)
    this.text(`${row.id}  ${row.prompt_tokens}+${row.output_tokens}`, 36, this.y + 14, { size: 15, room: name - 44 })
    row.cells.forEach((one) => this.cell(one.kind, one.letter, colour, name + one.tick * cell, this.y, cell, 28))
    this.y += 30
  }

  cell(kind, letter, colour, x, y, width, height) {
    if (kind === "away") {
      this.stroke(x, y + height - 0.5, x + width, y + height - 0.5)
      return
    }
    this.fill(kind, colour, x, y, width - 1, height)
    const dark = ["first", "decode", "last"].includes(kind) && colour === COLOURS[6]
    if (width >= 11) this.text(letter, x + width / 2, y + height / 2 + 1, { size: Math.min(14, width), weight: 600, align: "center", colour: dark ? "#ffffff" : INK })
  }

  fill(kind, colour, x, y, width, height) {
    const solid = ["first", "decode", "last"].includes(kind)
    const bare = ["blocked", "seat", "preempted", "refused", "cancelled", "failed"].includes(kind)
    this.pen.globalAlpha = solid ? 1 : bare ? 0 : kind === "waiting" ? 0.16 : 0.3
    this.pen.fillStyle = colour
    this.pen.fillRect(x, y, width, height)
    this.pen.globalAlpha = 1
    if (kind === "prefill" || kind === "recompute") this.hatch(colour, x, y, width, height, kind === "prefill" ? 1 : -1)
    if (kind === "first") this.stroke(x + width - 1.5, y, x + width - 1.5, y + height, INK, 3)
    if (bare) this.frame(kind, colour, x, y, width, height)
  }

  hatch(colour, x, y, width, height, slope) {
    this.pen.save()
    this.pen.beginPath()
    this.pen.rect(x, y, width, height)
    this.pen.clip()
    for (let at = -height; at < width + height; at += 7) {
      this.stroke(x + at, slope > 0 ? y + height : y, x + at + height, slope > 0 ? y : y + height, colour, 2.5)
    }
    this.pen.restore()
  }

  frame(kind, colour, x, y, width, height) {
    this.pen.setLineDash(kind === "seat" ? [4, 3] : [])
    this.pen.strokeStyle = kind === "seat" ? colour : ["blocked", "preempted", "failed"].includes(kind) ? BAD : MUTED
    this.pen.lineWidth = 2
    this.pen.strokeRect(x + 1, y + 1, width - 2, height - 2)
    this.pen.setLineDash([])
  }

  legend(lines) {
    const letters = new Map(lines.flatMap((line) => line.rows.flatMap((row) => row.cells.map((one) => [one.kind, one.letter]))))
    let x = 20
    this.y += 6
    for (const kind of KINDS.filter((kind) => letters.has(kind))) {
      const text = this.words[`cell.${kind}`] ?? kind
      this.pen.font = `400 14px ${FONT}`
      const width = 34 + this.pen.measureText(text).width + 22
      if (x + width > this.shape.width - 20) [x, this.y] = [20, this.y + 32]
      this.cell(kind, letters.get(kind), COLOURS[0], x, this.y, 27, 24)
      this.text(text, x + 34, this.y + 13, { size: 14 })
      x += width
    }
  }

  blob() {
    return new Promise((resolve) => this.canvas.toBlob(resolve, "image/png"))
  }
}

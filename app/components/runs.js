// The recorded runs, handed to every view of the page. A message carries the ticks from `since` on.

const { page } = await import(`../../../app.components.base/LabComponent/_js/shared.js${new URL(import.meta.url).search}`)

/** `old` up to tick `since`, then `part`. */
function joined(old, part, since) {
  if (!old || since === 0) return part
  const frames = (name) => [...old[name].frames.filter((frame) => frame.tick < since), ...part[name].frames]
  const rows = part.timeline.rows.map((row) => {
    const before = old.timeline.rows.find((other) => other.id === row.id)
    return { ...row, cells: [...(before?.cells ?? []).filter((cell) => cell.tick < since), ...row.cells] }
  })
  return {
    ...part,
    timeline: { ...part.timeline, rows, ms: [...old.timeline.ms.slice(0, since), ...part.timeline.ms] },
    strip: { ...part.strip, frames: frames("strip") },
    pages: { ...part.pages, frames: frames("pages") },
    log: { ...part.log, frames: frames("log") },
  }
}

export function render({ model, el }) {
  el.hidden = true
  let runs = []
  const receive = () => {
    if (!model.data) return
    const { since, runs: parts } = JSON.parse(model.data)
    const have = Math.max(0, ...runs.map((run) => run.strip.frames.length))
    if (since > have) {
      model.send_msg({ have })
      return
    }
    const byName = new Map(runs.map((run) => [run.timeline.name, run]))
    runs = parts.map((part) => joined(byName.get(part.timeline.name), part, since))
    page.setRuns(runs)
  }
  model.on("data", receive)
  receive()
}

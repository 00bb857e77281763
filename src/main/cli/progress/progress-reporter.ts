import type { createLogUpdate } from 'log-update'
import type { RunSnapshot } from '../../../shared/run/snapshot.ts'
import type { CliContext } from '../context.ts'
import { formatProgressBlock, formatProgressLine } from './progress-text.ts'

const LINE_EVERY_MS = 5_000

/** Shows on stderr how a run goes on. */
export interface ProgressReporter {
  update(snapshot: RunSnapshot): void
  /** Says something in between, without disturbing what is redrawn. */
  say(text: string): void
  /** Ends the showing; what was redrawn is wiped. */
  finish(): void
}

function createLiveReporter(context: CliContext): ProgressReporter {
  let draw: ReturnType<typeof createLogUpdate> | null = null
  let last: RunSnapshot | null = null
  let hasFinished = false
  const redraw = () => {
    if (last !== null) draw?.(formatProgressBlock(context.errTerminal, last))
  }
  // Loaded only where it draws, and not awaited: it first builds a table of character widths.
  void import('log-update').then((loaded) => {
    if (hasFinished) return
    draw = loaded.createLogUpdate(process.stderr)
    redraw()
  })
  process.stderr.on('resize', redraw)
  return {
    update: (snapshot) => {
      last = snapshot
      redraw()
    },
    say: (text) => (draw === null ? void context.err.writeLine(text) : draw.persist(text)),
    finish: () => {
      process.stderr.off('resize', redraw)
      hasFinished = true
      draw?.clear()
      draw?.done()
    },
  }
}

function createLineReporter(context: CliContext): ProgressReporter {
  let last: RunSnapshot | null = null
  const timer = setInterval(() => {
    if (last !== null && last.phase !== 'ended') void context.err.writeLine(formatProgressLine(last))
  }, LINE_EVERY_MS)
  timer.unref()
  return {
    update: (snapshot) => {
      last = snapshot
    },
    say: (text) => void context.err.writeLine(text),
    finish: () => clearInterval(timer),
  }
}

/** A bar that is redrawn on a terminal, a line every 5 s elsewhere, only what is said where it is to be quiet. */
export function createProgressReporter(context: CliContext, quiet: boolean): ProgressReporter {
  if (quiet) {
    return { update: () => {}, say: (text) => void context.err.writeLine(text), finish: () => {} }
  }
  return context.errTerminal.isInteractive ? createLiveReporter(context) : createLineReporter(context)
}

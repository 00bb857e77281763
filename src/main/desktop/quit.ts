import { app } from 'electron'
import { formatCounted } from '../../shared/messages/figure-text.ts'
import { type HeldRuns, isUnderWay } from './run-attention.ts'
import { showMessage } from './window.ts'

const CANCEL = 0
const STOP = 1
const FINISH = 2

function askHowToQuit(count: number): Promise<number> {
  return showMessage({
    type: 'question',
    title: 'Quit Sluice',
    message: `${formatCounted(count, 'run')} still in progress`,
    detail:
      'Stopped runs keep what was answered and can be resumed later. Finishing first quits when the last run has ended.',
    buttons: ['Cancel', 'Stop and resume later', 'Finish first'],
    defaultId: CANCEL,
    cancelId: CANCEL,
  })
}

/** Quits without asking. */
export interface QuitGuard {
  /** Closes the engine and then calls `last`, which ends the app. */
  closeThen(last: () => void): void
}

/**
 * Asks before the app quits while runs are under way, and closes the engine once before it quits, however
 * often quitting is requested.
 */
export function guardQuit(runs: HeldRuns, closeEngine: () => Promise<void>): QuitGuard {
  let state: 'open' | 'asking' | 'finishing' | 'closing' | 'closed' = 'open'
  let stopWaiting = () => {}
  const count = () => runs.snapshots().filter(isUnderWay).length

  const closeThen = (last: () => void) => {
    stopWaiting()
    state = 'closing'
    const end = () => {
      state = 'closed'
      last()
    }
    closeEngine().then(end, end)
  }
  const close = () => closeThen(() => app.quit())
  const finish = () => {
    state = 'finishing'
    const check = () => {
      if (state === 'finishing' && count() === 0) close()
    }
    stopWaiting()
    stopWaiting = runs.onChange(check)
    check()
  }

  app.on('before-quit', (event) => {
    if (state === 'closed') return
    event.preventDefault()
    if (state === 'asking' || state === 'closing') return
    const underWay = count()
    if (underWay === 0) {
      close()
      return
    }
    const before = state
    state = 'asking'
    askHowToQuit(underWay).then(
      (answer) => {
        if (answer === STOP) close()
        else if (answer === FINISH) finish()
        else {
          stopWaiting()
          state = 'open'
        }
      },
      () => {
        state = before
      },
    )
  })
  return { closeThen }
}

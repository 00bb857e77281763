import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Page } from 'playwright-core'
import { onTestFinished } from 'vitest'

/** Where a restarted shell finds what it left. */
export interface ShellFolders {
  userData: string
  workspace: string
}

/** The buttons of a quitting app's question. */
export type QuitAnswer = 'Cancel' | 'Stop and resume later' | 'Finish first'

/**
 * The screens, started as a person would and seen from outside. They end with the current test at the latest.
 */
export interface StartedShell {
  page: Page
  /** Ends it without notice, like a crash or power loss. */
  kill(): Promise<void>
  /** Asks an app to quit and presses a button of its question. Settles once the question is answered. */
  quit?(answer: QuitAnswer): Promise<string>
  /** Settles with the exit code at its end, null after a signal. */
  ended: Promise<number | null>
}

/** One way to start the screens. */
export interface Shell {
  /** Starts them, an app optionally with a file passed by the system, and waits for the first screen. */
  start(folders: ShellFolders, file?: string): Promise<StartedShell>
  /**
   * Starts a running app's program once more, with a file. Settles with the exit code of that second start.
   */
  startAgain?(folders: ShellFolders, file: string): Promise<number | null>
}

/** The end of a program: `kill` ends it without notice, as does the end of the current test. */
export function watchEnd(child: ChildProcess): Pick<StartedShell, 'kill' | 'ended'> {
  const ended = once(child, 'exit').then(([code]): number | null => code)
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  return { kill, ended }
}

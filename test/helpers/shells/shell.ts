import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Page } from 'playwright-core'
import { onTestFinished } from 'vitest'

/** Where a shell that is started twice finds what it left. */
export interface ShellFolders {
  userData: string
  workspace: string
}

/** The buttons of the question that a quitting app asks. */
export type QuitAnswer = 'Cancel' | 'Stop and resume later' | 'Finish first'

/** The screens, started as a person does and seen from outside. They end with the running test at the latest. */
export interface StartedShell {
  page: Page
  /** Ends it without notice, as a crash or a power loss does. */
  kill(): Promise<void>
  /** Asks an app to quit and presses a button of its question. Settles with the question once it was answered. */
  quit?(answer: QuitAnswer): Promise<string>
  /** Settles with the exit code when it has ended, null after a signal. */
  ended: Promise<number | null>
}

/** One way to start the screens. */
export interface Shell {
  /** Starts them, an app also with a file as the system passes one, and waits for the first screen. */
  start(folders: ShellFolders, file?: string): Promise<StartedShell>
  /** Starts the program of an app that runs once more, with a file. Settles with the exit code of that second start. */
  startAgain?(folders: ShellFolders, file: string): Promise<number | null>
}

/** How a program ends: `kill` ends it without notice, and the running test does so too when it is over. */
export function watchEnd(child: ChildProcess): Pick<StartedShell, 'kill' | 'ended'> {
  const ended = once(child, 'exit').then(([code]): number | null => code)
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  return { kill, ended }
}

import type { ExportTarget } from './results.ts'
import type { ChosenSource } from './source.ts'

/**
 * Posted by the window to its preload script, together with one end of a `MessageChannel`. The preload hands
 * that end to the main process, which serves the bridge over it.
 */
export const OPEN_BRIDGE_MESSAGE = 'sluice:open-bridge'

/**
 * What a person opened from outside the window: a file or folder, a link to a run, or a plan file. Plans
 * arrive this way even if they were dropped or chosen in the window.
 */
export type OpenRequest =
  | { kind: 'source'; source: ChosenSource }
  | { kind: 'run'; runId: string }
  | { kind: 'plan'; planId: string }

/** Files that a person chose, as handles of the main process: the page learns no path. `F` is its `File`. */
export interface DesktopApi<F = unknown> {
  /** Turns a dropped or chosen file or folder into a source; null if it is not on a disk, or is a plan. */
  takeFile(file: F): Promise<ChosenSource | null>
  /** Asks for one file with the system's dialog; null if the person cancelled or chose a plan. */
  chooseFile(): Promise<ChosenSource | null>
  /** Asks for files with the system's dialog as one source; null if the person cancelled or chose a plan. */
  chooseSource(): Promise<ChosenSource | null>
  /** Asks for a folder with the system's dialog; null if the person cancelled. */
  chooseFolder(): Promise<ChosenSource | null>
  /** Asks where an export goes with the system's dialog; null if the person cancelled. */
  chooseExportFile(suggestedName: string): Promise<ExportTarget | null>
  /** Shows a file that {@link chooseExportFile} gave in the system's file manager. */
  showExportFile(target: ExportTarget): Promise<void>
  /** Takes the request from outside that waits for the page; null if there is none. */
  takeOpened(): Promise<OpenRequest | null>
  /** Calls the listener for each request from outside, for the lifetime of the page. */
  onOpened(listener: () => void): void
}

/** Where the preload script puts the {@link DesktopApi}: `window.sluice`. Absent in a browser. */
export const DESKTOP_API_NAME = 'sluice'

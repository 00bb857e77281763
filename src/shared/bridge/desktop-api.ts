import type { ExportTarget } from './results.ts'
import type { ChosenSource } from './source.ts'

/**
 * What the window posts to its preload script, together with one end of a `MessageChannel`, to reach the engine.
 * The preload hands that end on to the main process, which serves the bridge over it.
 */
export const OPEN_BRIDGE_MESSAGE = 'sluice:open-bridge'

/**
 * What a person opened from outside of the window: a file or folder with the app, a link to a run, or a plan file. A
 * plan is opened like that wherever it was dropped or chosen, too.
 */
export type OpenRequest =
  | { kind: 'source'; source: ChosenSource }
  | { kind: 'run'; runId: string }
  | { kind: 'plan'; planId: string }

/** Files that a person chose, as handles of the main process; the page learns no path. `F` is the host's `File`. */
export interface DesktopApi<F = unknown> {
  /** Makes a dropped or chosen file or folder a source; null if it is not on a disk, or is a plan. */
  takeFile(file: F): Promise<ChosenSource | null>
  /** Asks for one file with the system's dialog; null if the person cancelled or chose a plan. */
  chooseFile(): Promise<ChosenSource | null>
  /** Asks for files with the system's dialog and makes one source of them; null if the person cancelled or chose a plan. */
  chooseSource(): Promise<ChosenSource | null>
  /** Asks for a folder with the system's dialog; null if the person cancelled. */
  chooseFolder(): Promise<ChosenSource | null>
  /** Asks where an export goes with the system's dialog; null if the person cancelled. */
  chooseExportFile(suggestedName: string): Promise<ExportTarget | null>
  /** Shows a file that {@link chooseExportFile} gave in the system's file manager. */
  showExportFile(target: ExportTarget): Promise<void>
  /** Takes what was opened from outside and waits for the page; null if nothing does. */
  takeOpened(): Promise<OpenRequest | null>
  /** Calls the listener whenever something was opened from outside, as long as the page lives. */
  onOpened(listener: () => void): void
}

/** Where the preload script puts the {@link DesktopApi}: `window.sluice`. Absent in a browser. */
export const DESKTOP_API_NAME = 'sluice'

/**
 * What the window posts to its preload script, together with one end of a `MessageChannel`, to reach the engine.
 * The preload hands that end on to the main process, which serves the bridge over it.
 */
export const OPEN_BRIDGE_MESSAGE = 'sluice:open-bridge'

/** A file that a person chose, as the main process names it. `F` is the host's `File`. */
export interface DesktopApi<F = unknown> {
  /** Absolute path of a dropped or chosen file; empty where the file is not on a disk. */
  pathForFile(file: F): string
  /** Asks for a source with the system's dialog; its absolute path, or null where the person cancelled. */
  chooseSource(): Promise<string | null>
  /** Asks for a folder with the system's dialog; its absolute path, or null where the person cancelled. */
  chooseFolder(): Promise<string | null>
  /** Asks where an export goes; an absolute path, or null where the person cancelled. */
  chooseExportFile(suggestedName: string): Promise<string | null>
}

/** Where the preload script puts the {@link DesktopApi}: `window.sluice`. Absent in a browser. */
export const DESKTOP_API_NAME = 'sluice'

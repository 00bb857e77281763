/** All channels between preload script and main process. */
export const IPC_CHANNELS = {
  /** Sends one end of a MessageChannel, and no data. */
  openBridge: 'sluice:open-bridge',
  /** Sends the path of a dropped or chosen file, which the preload script has read; answers with a source. */
  takeFile: 'sluice:take-file',
  /** Answers with a source of one file or null. */
  chooseFile: 'sluice:choose-file',
  /** Answers with a source or null. */
  chooseSource: 'sluice:choose-source',
  /** Answers with a source or null. */
  chooseFolder: 'sluice:choose-folder',
  /** Sends a suggested file name; answers with an export target or null. */
  chooseExportFile: 'sluice:choose-export-file',
  /** Sends an export target whose file is to be shown in its folder. */
  showExportFile: 'sluice:show-export-file',
  /** Answers with what was opened from outside the window, or null. */
  takeOpened: 'sluice:take-opened',
  /** From the main process to the page, without data: something was opened from outside. */
  opened: 'sluice:opened',
} as const

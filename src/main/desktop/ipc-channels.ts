/** Channels between preload script and main process; declared here and nowhere else. */
export const IPC_CHANNELS = {
  /** Carries one end of a MessageChannel, no data. */
  openBridge: 'sluice:open-bridge',
  /** Takes the path that the preload script read off a dropped or chosen file, answers with a source. */
  takeFile: 'sluice:take-file',
  /** Answers with a source of one file or null. */
  chooseFile: 'sluice:choose-file',
  /** Answers with a source or null. */
  chooseSource: 'sluice:choose-source',
  /** Answers with a source or null. */
  chooseFolder: 'sluice:choose-folder',
  /** Takes a suggested file name, answers with an export target or null. */
  chooseExportFile: 'sluice:choose-export-file',
  /** Takes an export target whose file is to be shown in its folder. */
  showExportFile: 'sluice:show-export-file',
  /** Answers with what was opened from outside of the window, or null. */
  takeOpened: 'sluice:take-opened',
  /** From the main process to the page: something was opened from outside. Carries no data. */
  opened: 'sluice:opened',
} as const

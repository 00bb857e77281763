/** Channels between preload script and main process; declared here and nowhere else. */
export const IPC_CHANNELS = {
  /** Carries one end of a MessageChannel, no data. */
  openBridge: 'sluice:open-bridge',
  /** Answers with a path or null. */
  chooseSource: 'sluice:choose-source',
  /** Answers with a path or null. */
  chooseFolder: 'sluice:choose-folder',
  /** Takes a suggested file name, answers with a path or null. */
  chooseExportFile: 'sluice:choose-export-file',
} as const

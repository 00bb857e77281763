import envPaths from 'env-paths'

/** The folder that holds the journals where nobody names another: the system's folder for an application's data. */
export function findDefaultWorkspace(): string {
  return envPaths('sluice', { suffix: '' }).data
}

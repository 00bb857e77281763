import envPaths from 'env-paths'

const PATHS = envPaths('sluice', { suffix: '' })

/** The folder that holds the journals if nobody names another: the system's folder for an application's data. */
export function findDefaultWorkspace(): string {
  return PATHS.data
}

/** The system's folder for what an application can make again. */
export function findCacheFolder(): string {
  return PATHS.cache
}

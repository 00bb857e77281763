import envPaths from 'env-paths'

const PATHS = envPaths('sluice', { suffix: '' })

/** The default workspace: the system's folder for application data. */
export function findDefaultWorkspace(): string {
  return PATHS.data
}

/** The system's folder for caches. */
export function findCacheFolder(): string {
  return PATHS.cache
}

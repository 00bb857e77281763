import { isAbsolute, parse, relative, resolve, sep } from 'node:path'
import type { PlanConnectionInput } from '../../../shared/plan/connection.ts'

type Tls = NonNullable<PlanConnectionInput['tls']>

/**
 * A path as a plan file in that folder names it: relative, with forward slashes, so that both can be moved together;
 * absolute where the two have nothing but the root in common.
 */
export function toPlanPath(folder: string, path: string): string {
  const steps = relative(folder, path)
  if (steps === '' || isAbsolute(steps)) return path
  const { root } = parse(folder)
  const climbs = steps.split(sep).filter((step) => step === '..').length
  const depth = folder.slice(root.length).split(sep).filter(Boolean).length
  return climbs > 0 && climbs >= depth ? path : steps.split(sep).join('/')
}

/** The absolute path of what a plan file in that folder names. */
export function fromPlanPath(folder: string, path: string): string {
  return resolve(folder, path)
}

/** Certificate files with every path changed the same way. */
export function mapTlsPaths(tls: Tls, change: (path: string) => string): Tls {
  const { caFile, certFile, keyFile } = tls
  return {
    ...(caFile === undefined ? {} : { caFile: change(caFile) }),
    ...(certFile === undefined ? {} : { certFile: change(certFile) }),
    ...(keyFile === undefined ? {} : { keyFile: change(keyFile) }),
  }
}

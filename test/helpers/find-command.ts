import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Path of a command: the one in the variable, else the first on the PATH; null if there is none. */
export function findCommand(name: string, variable: string): string | null {
  const named = process.env[variable]
  if (named !== undefined && named !== '') return named
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  const names = process.platform === 'win32' ? [`${name}.exe`, name] : [name]
  return folders.flatMap((folder) => names.map((one) => join(folder, one))).find(existsSync) ?? null
}

import { readFileSync, statSync } from 'node:fs'

/** Throws if a path exists and is no regular file: opening a pipe would block until somebody writes. */
export function refuseIrregular(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found !== undefined && !found.isFile()) throw new Error(`${path} is not a regular file`)
}

/** Reads a text file of the workspace. Throws as the file system and {@link refuseIrregular} do. */
export function readTextFile(path: string): string {
  refuseIrregular(path)
  return readFileSync(path, 'utf8')
}

import { isAbsolute, join, relative, sep } from 'node:path'

/** Names that are devices on Windows, whatever ending they have. */
const DEVICE_NAME = /^(con|prn|aux|nul|conin\$|conout\$|com[\d¹²³]|lpt[\d¹²³])(\.|$)/i

/**
 * Where the file at a path inside a folder would be; null where the path is none that a folder can hold. Backslashes
 * are refused everywhere, since they part names on Windows; its devices, streams and dropped endings there alone.
 */
export function toFilePath(
  folder: string,
  path: string,
  platform: NodeJS.Platform = process.platform,
): string | null {
  const names = path.split('/')
  const isPlain = names.every(
    (name) =>
      !['', '.', '..'].includes(name) &&
      !/[\0\\]/.test(name) &&
      (platform !== 'win32' || isPlainOnWindows(name)),
  )
  return isPlain ? join(folder, ...names) : null
}

function isPlainOnWindows(name: string): boolean {
  return !/[:*?"<>|]|[. ]$/.test(name) && !DEVICE_NAME.test(name)
}

/** Whether a real path is inside a real folder. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

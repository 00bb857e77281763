import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'

/** A file below `src`, its path relative to the checkout with forward slashes. */
export interface SourceFile {
  path: string
  text: string
}

/** Number of files of a kind and their lengths in lines. */
export interface Sizes {
  kind: string
  files: number
  lines: number
  median: number
  p90: number
}

const KINDS = ['ts', 'tsx', 'css']

/** Every TypeScript and CSS file below a checkout's `src`. */
export function readSourceFiles(checkout: string): SourceFile[] {
  return readdirSync(join(checkout, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && KINDS.includes(extname(entry.name).slice(1)))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({
      path: relative(checkout, file).split(sep).join('/'),
      text: readFileSync(file, 'utf8'),
    }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
}

/** Sizes of all files together, then by kind. Percentiles are nearest-rank. */
export function measureSizes(files: readonly SourceFile[]): Sizes[] {
  const groups = [
    { kind: 'all', files },
    ...KINDS.map((kind) => ({ kind, files: files.filter(({ path }) => path.endsWith(`.${kind}`)) })),
  ]
  return groups.map(({ kind, files: members }) => {
    const lengths = members.map(({ text }) => countLines(text)).toSorted((one, other) => one - other)
    const at = (share: number) => lengths[Math.max(0, Math.ceil(share * lengths.length) - 1)] ?? 0
    const lines = lengths.reduce((sum, length) => sum + length, 0)
    return { kind, files: lengths.length, lines, median: at(0.5), p90: at(0.9) }
  })
}

function countLines(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length
}

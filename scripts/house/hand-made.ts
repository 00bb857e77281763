import type { SourceFile } from './source-files.ts'

/** What the window draws by hand instead of with a shared component. */
export interface HandMade {
  /** `<table>` elements and the number of files with one. */
  tables: { count: number; files: number }
  /** Files that draw an `<svg>`. */
  charts: number
  /** Style rules with a class selector. */
  styleRules: number
}

/** Counts tables, charts and style rules of the window. */
export function countHandMade(files: readonly SourceFile[]): HandMade {
  const renderer = files.filter(({ path }) => path.startsWith('src/renderer/'))
  const count = (pattern: RegExp) =>
    renderer.map(({ text }) => text.match(pattern)?.length ?? 0).filter((found) => found > 0)
  const sum = (counts: readonly number[]) => counts.reduce((total, one) => total + one, 0)
  const tables = count(/<table\b/g)
  const sheets = files.filter(({ path }) => path.endsWith('.css'))
  return {
    tables: { count: sum(tables), files: tables.length },
    charts: count(/<svg\b/g).length,
    styleRules: sum(
      sheets.map(({ text }) => text.match(/^[ \t]*[^@{}\n]*\.[a-z][\w-]*[^{}\n]*\{/gim)?.length ?? 0),
    ),
  }
}

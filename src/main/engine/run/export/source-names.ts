import type { ReportOptions } from './csv-report.ts'

/**
 * The names that the source's columns have in a report. Each appended name stands once: a source's column of that name,
 * such as one of an earlier export, is called `sluice_row (source)`. A lossless report has them as the source does, empty
 * and doubled ones among them.
 */
export function toSourceNames({ columns, header, appended, lossless }: ReportOptions): string[] {
  if (lossless && header !== null) return columns.map((_, index) => header[index] ?? '')
  const own = new Set(appended.map(({ name }) => name))
  const used = new Set(columns)
  return columns.map((name) => {
    if (!own.has(name)) return name
    let renamed = `${name} (source)`
    for (let number = 2; used.has(renamed); number += 1) renamed = `${name} (source ${number})`
    used.add(renamed)
    return renamed
  })
}

import type { ComponentProps } from 'react'
import { isNumeric, type Table as ReportedTable, toCellText, toTitle } from '../../../shared/report/report.ts'
import { SafeText } from '../text/safe-text.tsx'
import { Table } from './table.tsx'

/** A table of a report, like those in terminals, pages and workbooks. */
export function ReportTable(
  props: {
    table: ReportedTable
    caption: string
    className?: string | undefined
    empty?: string
  } & Pick<ComponentProps<typeof Table<ReportedTable['rows'][number]>>, 'toRow'>,
) {
  const { table, ...look } = props
  return (
    <Table
      {...look}
      rows={table.rows}
      columns={table.columns.map((column, at) => ({
        title: toTitle(column),
        ...(isNumeric(column) && { isNumber: true as const }),
        cell: (row: ReportedTable['rows'][number]) => {
          const shown = toCellText(column, row[at] ?? null)
          return column.kind === 'foreign' ? <SafeText text={shown} max={120} /> : shown
        },
      }))}
    />
  )
}

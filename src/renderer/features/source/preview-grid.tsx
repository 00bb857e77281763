import { useMemo, useState } from 'react'
import type { BridgePreview } from '../../../shared/bridge/source.ts'
import { formatCount } from '../../ui/format-number.ts'
import { toColumnRem } from '../../ui/grid/column-width.ts'
import { DataGrid, type GridColumn } from '../../ui/grid/data-grid.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'

const COLUMNS_SHOWN = 60

type PreviewRow = BridgePreview['rows'][number]

/** The first rows of a source as the chosen reading sees them, every cell as it is. */
export function PreviewGrid({ preview }: { preview: BridgePreview }) {
  const [cursor, setCursor] = useState(0)
  const columns = useMemo(() => toGridColumns(preview), [preview])
  return (
    <DataGrid
      label="First rows of the source"
      columns={columns}
      count={preview.rows.length}
      rowAt={(index) => preview.rows[index] ?? null}
      cursor={cursor}
      onCursor={setCursor}
    />
  )
}

function toGridColumns({ columns: names, rows }: BridgePreview): GridColumn<PreviewRow>[] {
  const row: GridColumn<PreviewRow> = {
    id: 'row',
    title: 'Row',
    rem: 4.5,
    align: 'end',
    cell: (data) => formatCount(data.row),
  }
  const cells = names.slice(0, COLUMNS_SHOWN).map(
    (name, index): GridColumn<PreviewRow> => ({
      id: `cell ${index}`,
      title: <SafeText text={name} max={60} />,
      rem: toColumnRem(
        name,
        rows.map((data) => data.cellLengths[index] ?? 0),
      ),
      grow: true,
      cell: (data) => <PreviewCell row={data} index={index} />,
    }),
  )
  return [row, ...cells]
}

function PreviewCell({ row, index }: { row: PreviewRow; index: number }) {
  const text = row.cells[index] ?? ''
  return <SafeText text={text} fullLength={row.cellLengths[index] ?? text.length} />
}

import { useMemo, useState } from 'react'
import type { BridgePreview } from '../../../shared/bridge/source.ts'
import { suggestMapping } from '../../../shared/mapping/match-columns.ts'
import { formatCount } from '../../../shared/messages/figure-text.ts'
import type { Operation } from '../../../shared/plan/operation.ts'
import type { Mapping } from '../../../shared/plan/plan.ts'
import { createContentRule } from '../../ui/content/content-rule.ts'
import { MaskedText, useContentShown } from '../../ui/content/masked-text.tsx'
import { toColumnRem } from '../../ui/grid/column-width.ts'
import { DataGrid, type GridColumn } from '../../ui/grid/data-grid.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'

const COLUMNS_SHOWN = 60

type PreviewRow = BridgePreview['rows'][number]

/** The first rows of a source as the chosen reading sees them; what is user content is masked until it is revealed. */
export function PreviewGrid(props: {
  preview: BridgePreview
  operation: Operation
  /** What the person has said that columns fill, in addition to what their names suggest. */
  mapping: Mapping
}) {
  const { preview, operation, mapping } = props
  const [cursor, setCursor] = useState(0)
  const shown = useContentShown((content) => content.shown)
  const columns = useMemo(
    () => toGridColumns(preview, operation, mapping, shown),
    [preview, operation, mapping, shown],
  )
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

function toGridColumns(
  { columns: names, rows }: BridgePreview,
  operation: Operation,
  mapping: Mapping,
  shown: boolean,
): GridColumn<PreviewRow>[] {
  const isContent = createContentRule(names, { ...suggestMapping(names, operation).mapping, ...mapping })
  const row: GridColumn<PreviewRow> = {
    id: 'row',
    title: 'Row',
    rem: 4.5,
    align: 'end',
    cell: (data) => formatCount(data.place.row),
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
      cell: (data) => {
        const text = data.cells[index] ?? ''
        const length = data.cellLengths[index] ?? text.length
        return <MaskedText text={text} length={length} revealed={shown || !isContent(index, text, length)} />
      },
    }),
  )
  return [row, ...cells]
}

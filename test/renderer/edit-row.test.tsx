import { MantineProvider } from '@mantine/core'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { RowForm } from '../../src/renderer/features/check/edit-dialogs.tsx'
import type { Problem } from '../../src/shared/run/problem.ts'
import type { RowDetail } from '../../src/shared/run/results.ts'

it('separates problems of a whole row from problems of the edited field', () => {
  const problems: Problem[] = [
    { row: 4, severity: 'warning', code: 'formula_without_value', found: 'H8' },
    { row: 4, severity: 'warning', code: 'empty', field: 'post_id' },
  ]
  const detail = {
    columns: ['post_id'],
    problems,
    rowHash: '',
    halfOf: null,
    result: { row: 4, cells: ['p4'] },
  }
  const shown = renderToStaticMarkup(
    <MantineProvider>
      <RowForm
        {...{ runId: 'a', row: 4, fields: ['post_id'], fixes: [], onFixes: () => {}, onClose: () => {} }}
        mapping={{ post_id: { kind: 'column', column: 'post_id' } }}
        detail={detail as unknown as RowDetail}
      />
    </MantineProvider>,
  )
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/ +/g, ' ')
  expect(shown).toMatch(/Has a formula that was never calculated; the cell is read as empty\. H8 post_id It /)
})

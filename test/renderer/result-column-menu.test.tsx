import { MantineProvider } from '@mantine/core'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { ResultColumnMenu } from '../../src/renderer/features/results/results-table.tsx'
import type { ColumnEntry } from '../../src/shared/run/choose-columns.ts'

const ENTRIES: ColumnEntry[] = [
  { name: 'sluice_row', title: 'Row', group: 'row', hasContent: false },
  { name: 'source.text_data', title: 'text_data', group: 'source', hasContent: false },
  { name: 'source.priority', title: 'priority', group: 'source', hasContent: false },
]

function show(...names: string[]): string {
  return renderToStaticMarkup(
    <MantineProvider>
      <ResultColumnMenu
        entries={ENTRIES}
        shown={names.map((name) => ({ name }))}
        widthOf={() => 10}
        onColumns={() => {}}
      />
    </MantineProvider>,
  )
}

it('shows on its button how many source columns are not shown, including those that were never chosen', () => {
  const shown = show('sluice_row', 'source.text_data')
  expect(shown).toContain('Columns (1 hidden)</span>')
  expect(shown).toContain('aria-label="Columns (1 hidden)"')
  expect(show('source.text_data', 'source.priority')).toContain('Columns</span>')
})

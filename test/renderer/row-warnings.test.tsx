import { MantineProvider } from '@mantine/core'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { RowWarningsNotice } from '../../src/renderer/ui/problems/row-warnings.tsx'
import type { ProblemGroup } from '../../src/shared/run/problem.ts'

it('tells warnings of one kind apart, and names the others by their kind', () => {
  const groups = [3, 4].map(
    (column): ProblemGroup => ({
      ...{ severity: 'warning', code: 'unsent_text', args: { column }, field: null, rows: column },
      examples: [],
    }),
  )
  const damaged: ProblemGroup = {
    ...{ severity: 'warning', code: 'damaged_text', args: { as: 'replaced' }, field: 'text_data', rows: 1 },
    examples: [],
  }
  const shown = renderToStaticMarkup(
    <MantineProvider>
      <RowWarningsNotice groups={[...groups, damaged]} />
    </MantineProvider>,
  )
  expect(shown).toContain('3 rows: Column 3 has texts that are not sent')
  expect(shown).toContain('4 rows: Column 4 has texts that are not sent')
  expect(shown).toContain('1 row: Text that was damaged before')
})

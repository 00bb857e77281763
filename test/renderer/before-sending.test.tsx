import { MantineProvider } from '@mantine/core'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { BeforeSending } from '../../src/renderer/ui/problems/before-sending.tsx'
import type { ProblemGroup } from '../../src/shared/run/problem.ts'
import type { RowCounts } from '../../src/shared/run/run.ts'

const NOTHING_OPEN = {
  open: [],
  accepted: [],
  blocked: undefined,
  isChecked: false,
  isAskedOutside: false,
  onChecked: () => {},
}

const EMPTY: ProblemGroup = {
  code: 'required',
  severity: 'error',
  field: 'post_id',
  rows: 3,
  examples: [],
}

function show(counts: Partial<RowCounts>, groups: readonly ProblemGroup[] = []): string {
  const none = { succeeded: 0, rejected: 0, failed: 0, unknown: 0, overdue: 0, awaiting: 0 }
  const all: RowCounts = { read: 10, not_sent: 4, invalid: 0, ...none, ...counts }
  return renderToStaticMarkup(
    <MantineProvider>
      <BeforeSending acceptance={NOTHING_OPEN} rows={all.not_sent} counts={all} groups={groups} />
    </MantineProvider>,
  )
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/ +/g, ' ')
}

it('says how many rows are not sent before the others are, and why', () => {
  const shown = show({ invalid: 3, left_out: 1, skipped: 2 }, [EMPTY])
  expect(shown).toContain('6 rows are not sent')
  expect(shown).toMatch(/3 rows: .*post_id 1 row: left out/)
  expect(shown).toContain('2 rows: sent before by an earlier run')
})

it('does not mention unsent rows if all are sent', () => {
  expect(show({ not_sent: 10 })).not.toContain('not sent')
})

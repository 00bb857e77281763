import { describe, expect, it } from 'vitest'
import { describeContinuation, toCertain } from '../../src/renderer/app/continue-run.tsx'
import { rowCountsSchema } from '../../src/shared/run/run.ts'

const TRIAL = rowCountsSchema.parse({
  read: 100,
  invalid: 0,
  succeeded: 7,
  rejected: 3,
  failed: 0,
  unknown: 0,
  overdue: 0,
  awaiting: 0,
  not_sent: 90,
})
const ENDED = { ...TRIAL, read: 10, not_sent: 0 }
const SUMMARY = { errors: [], state: 'completed' as const, sessions: [], rows: ENDED }

describe('the rows that a run is continued with', () => {
  it('are those that did not succeed, for a retry of an ended run', () => {
    expect(toCertain('retry', SUMMARY, ENDED)).toBe(3)
    expect(describeContinuation('retry', { rows: 3, left: 0, awaiting: 0 })).toMatch(
      /^3 rows are sent again with the same body\. [^.]*\.$/,
    )
  })

  it('are also those that a trial left, for a retry, and the dialog says so', () => {
    expect(toCertain('retry', SUMMARY, TRIAL)).toBe(93)
    const said = describeContinuation('retry', { rows: 93, left: 90, awaiting: 0 })
    expect(said).toContain('3 rows are sent again')
    expect(said).toContain('90 rows have not been sent yet. The run sends them, too.')
    expect(describeContinuation('retry', { rows: 2, left: 1, awaiting: 0 })).toContain(
      '1 row has not been sent yet. The run sends it, too.',
    )
  })

  it('are also those that a trial left and those that were not sent, for a correction', () => {
    const rows = { ...TRIAL, invalid: 2, left_out: 1, skipped: 4 }
    expect(toCertain('correct', SUMMARY, rows)).toBe(96)
  })

  it.each([
    [1, 0, 'Everything was sent. 1 row awaits its callback, and is not sent again.'],
    [2, 0, 'Everything was sent. 2 rows await their callbacks, and are not sent again.'],
    [1, 3, 'stopped. 1 more row awaits its callback,'],
    [2, 3, 'stopped. 2 more rows await their callbacks,'],
  ])('are named with %i awaiting rows and %i to send, for a resume', (awaiting, rows, said) => {
    expect(describeContinuation('resume', { rows, left: 0, awaiting })).toContain(said)
  })

  it('are those of an interrupted trial for a resume, and the dialog says how many are left', () => {
    const sessions = [{ trial_rows: 30 }]
    const summary = { ...SUMMARY, state: 'interrupted' as const, sessions, rows: TRIAL }
    expect(toCertain('resume', summary, TRIAL)).toBe(20)
    const asked = { left: 90, awaiting: 0, isTrial: true }
    expect(describeContinuation('resume', { ...asked, rows: 20 })).toBe(
      '20 rows of the trial have not been sent yet. Resuming ends with the trial; resume again to send the 70 other rows.',
    )
    expect(describeContinuation('resume', { ...asked, rows: 0 })).toBe(
      'Nothing of the trial is left to send. Resuming ends with the trial; resume again to send the 90 other rows.',
    )
    expect(toCertain('resume', SUMMARY, TRIAL)).toBe(90)
  })

  it('are not known before an unread source is read', () => {
    const said = describeContinuation('resume', { rows: 3, left: 3, awaiting: 0, isUnread: true })
    expect(said).toBe('The source is read again, as it is now, and then sent.')
  })

  it.each([
    [1, '1 row that did not succeed or was not sent is checked again. You correct it next;'],
    [2, '2 rows that did not succeed or were not sent are checked again. You correct them next;'],
  ])('are named before a correction of %i', (rows, said) => {
    expect(describeContinuation('correct', { rows, left: 0, awaiting: 0 })).toContain(said)
  })
})

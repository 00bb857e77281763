import { describe, expect, it } from 'vitest'
import { LEDGER_STATES, type LedgerQuery } from '../../../../src/shared/lookback/ledger.ts'
import type { PlanInput } from '../../../../src/shared/plan/plan.ts'
import { startFaultServer } from '../../../helpers/fault-server.ts'
import { openLedgerWorkspace } from './ledger-workspace.ts'

const toAdd = (watchlist: string): PlanInput['operation'] => ({ kind: 'watchlist-add', watchlist })
const toUpdate = (watchlist: string, emptyNotes: 'keep' | 'clear' = 'keep'): PlanInput['operation'] => ({
  kind: 'watchlist-update',
  watchlist,
  emptyNotes,
})
const ALL: Partial<LedgerQuery> = { states: LEDGER_STATES.watchlist }

async function openWatchlist() {
  const opened = await openLedgerWorkspace()
  await opened.sandbox.admin('PUT', '/watchlists/slurs', { terms: [{ term: 'old', notes: 'from before' }] })
  const readTerms = async (query = ALL) =>
    (await opened.read('watchlist', query)).entries.map(({ term, state, outcome, notes, notes_known }) => [
      ...[term, state, outcome],
      notes_known ? notes : '?',
    ])
  return { ...opened, readTerms }
}

describe('the ledger of a watchlist', () => {
  it('holds the terms and notes that the sandbox holds, in any order of adds and updates', async () => {
    const { send, read, readTerms, sandbox } = await openWatchlist()
    await send(toAdd('slurs'), 'term,notes\nFirst,one\nsecond,two\nOLD,\nthird,three\n')
    await send(toUpdate('slurs'), 'term,notes\nfirst,changed\nmissing,none\n')
    await send(toUpdate('slurs', 'clear'), 'term,notes\nthird,\n')
    await send(toAdd('slurs'), 'term,notes\nsecond,\n')
    expect(await readTerms()).toEqual([
      ['first', 'known', 'updated', 'changed'],
      ['second', 'known', 'pre_existing', 'two'],
      ['old', 'known', 'pre_existing', 'from before'],
      ['third', 'known', 'updated', null],
      ['missing', 'absent', 'non_existent', '?'],
    ])
    const { entries, counts } = await read('watchlist')
    expect(counts).toEqual({ known: 4, absent: 1 })
    const held = await sandbox.terms('slurs')
    expect(held).toHaveLength(entries.length)
    expect(held).toEqual(expect.arrayContaining(entries.map(({ term, notes }) => ({ term, notes }))))
  })

  it('records each term of a request by its own part of the answer', async () => {
    const { send, read } = await openLedgerWorkspace()
    const answers = [
      { added_terms: [{ term: 'zeta' }, { term: 'fine' }], pre_existing_terms: [], failed_terms: [] },
      {
        added_terms: [],
        pre_existing_terms: [{ term: 'zeta' }],
        // Only a text, and nothing about the last one.
        failed_terms: ['broken', { term: 'fine', notes: '', reason: 'too short', code: 7 }],
      },
    ]
    const server = await startFaultServer({
      onRequest: ({ number }, wire) =>
        wire.send(200, JSON.stringify({ message: '', watchlist: 'slurs', ...answers[number - 1] })),
    })
    const there = { connection: { baseUrl: server.baseUrl } }
    await send(toAdd('slurs'), 'term,notes\nzeta,\nfine,\n', there)
    const second = await send(toAdd('slurs'), 'term,notes\nzeta,\nbroken,\nfine,\npassed over,\n', there)
    expect(second.rows).toMatchObject({ succeeded: 1, rejected: 2, unknown: 1 })
    expect(second.terms?.failed.map(({ term }) => term)).toEqual(['broken', 'fine'])
    const { entries, counts } = await read('watchlist', ALL)
    expect(entries.map(({ term, state, outcome }) => [term, state, outcome])).toEqual([
      ['zeta', 'known', 'pre_existing'],
      ['fine', 'known', 'failed'],
      ['broken', 'failed', 'failed'],
      ['passed over', 'unknown', 'unknown'],
    ])
    expect(entries.map(({ failure }) => failure)).toEqual([null, 'reason: too short, code: 7', null, null])
    expect(counts).toEqual({ known: 2, failed: 1, unknown: 1 })
  })

  it('keeps the notes that were sent with a term which is not on the list, to be sent again', async () => {
    const { send, read } = await openLedgerWorkspace()
    const failed = ['broken', 'again', 'there'].map((term) => ({ term }))
    const answers = [
      { added_terms: [{ term: 'there' }], failed_terms: [{ term: 'broken' }, { term: 'again' }] },
      { updated_terms: [], non_existent_terms: [{ term: 'missing' }], failed_terms: [] },
      { added_terms: [], failed_terms: failed },
      { added_terms: [], failed_terms: [{ term: 'other' }] },
    ]
    const server = await startFaultServer({
      onRequest: ({ number }, wire) =>
        wire.send(200, { message: '', watchlist: 'slurs', ...answers[number - 1] }),
    })
    const there = { connection: { baseUrl: server.baseUrl } }
    await send(toAdd('slurs'), 'term,notes\nBroken,why\nagain,first\nthere,kept\n', there)
    await send(toUpdate('slurs'), 'term,notes\nmissing,note\n', there)
    await send(toAdd('slurs'), 'term,notes\nBroken,why\nagain,second\nthere,new\n', there)
    await send(toAdd('slurs'), 'term,notes\nlost,of it\nother,x\n', there)
    const { entries } = await read('watchlist', ALL)
    expect(
      entries.map(({ term, state, notes, notes_known: isKnown }) => [term, state, notes, isKnown]),
    ).toEqual([
      ['broken', 'failed', 'why', false],
      ['again', 'failed', 'second', false],
      ['there', 'known', 'kept', true],
      ['missing', 'absent', 'note', false],
      ['lost', 'unknown', 'of it', false],
      ['other', 'failed', 'x', false],
    ])
  })

  it('matches terms that an answer has in another normal form or as numbers, as the run does', async () => {
    const { send, read } = await openLedgerWorkspace()
    const server = await startFaultServer({
      onRequest: (_, wire) =>
        wire.send(200, {
          message: '',
          watchlist: 'slurs',
          pre_existing_terms: [],
          failed_terms: [],
          added_terms: [{ term: 'cafe\u0301', notes: 'n' }, { term: 88 }],
        }),
    })
    const there = { connection: { baseUrl: server.baseUrl } }
    const summary = await send(toAdd('slurs'), 'term,notes\ncaf\u00e9,\n88,\n', there)
    expect(summary).toMatchObject({
      rows: { succeeded: 2 },
      terms: { added: 2 },
      echoes: { verified: 2, alike: 1 },
    })
    const { entries } = await read('watchlist', ALL)
    expect(entries.map(({ term, state, notes }) => [term, state, notes])).toEqual([
      ['caf\u00e9', 'known', 'n'],
      ['88', 'known', null],
    ])
  })

  it('shows terms of a lost answer as unknown until an answer says what the list has', async () => {
    const { send, setFaults, readTerms, read, runs } = await openWatchlist()
    await send(toAdd('slurs'), 'term,notes\nknown,before\n')
    await setFaults(['503-after=100%'])
    const lost = await send(toAdd('slurs'), 'term,notes\nknown,after\nnew,note\n')
    expect(lost).toMatchObject({ rows: { unknown: 2 } })
    // The term exists in any case, but its notes are unknown.
    expect(await readTerms()).toEqual([
      ['known', 'known', 'unknown', '?'],
      ['new', 'unknown', 'unknown', '?'],
    ])
    await setFaults([])
    await runs.retryAsChild(lost.run_id, 'resend').ended
    expect(await readTerms()).toEqual([
      ['known', 'known', 'added_or_pre_existing', 'after'],
      ['new', 'known', 'added_or_pre_existing', 'note'],
    ])
    expect((await read('watchlist')).counts).toEqual({ known: 2 })
  })

  it('keeps terms unknown that an unanswered add may have added before it was split, although they failed then', async () => {
    const { send, read } = await openLedgerWorkspace()
    const server = await startFaultServer({
      onRequest: ({ number, body }, wire) => {
        const { terms } = JSON.parse(body) as { terms: { term: string }[] }
        if (number === 1) return wire.reset()
        if (terms.length > 1) return wire.send(413, '{"error_code": "TOO_MANY_TERMS", "message": "too many"}')
        const lists = { added_terms: [], pre_existing_terms: [], failed_terms: terms }
        wire.send(200, JSON.stringify({ message: '', watchlist: 'slurs', ...lists }))
      },
    })
    const parts = { connection: { baseUrl: server.baseUrl }, retry: { limit: 2, baseMs: 1 } }
    await send(toAdd('slurs'), 'term\none\ntwo\n', parts)
    const { entries } = await read('watchlist', ALL)
    expect(entries.map(({ term, state, outcome }) => [term, state, outcome])).toEqual([
      ['one', 'unknown', 'failed'],
      ['two', 'unknown', 'failed'],
    ])
  })

  it('is searched in either case, also beyond ASCII', async () => {
    const { read, send } = await openWatchlist()
    await send(toAdd('slurs'), 'term,notes\nold,\nübel,Ärger\n')
    for (const search of ['ÜBEL', 'ärger']) {
      expect((await read('watchlist', { search })).entries).toMatchObject([{ term: 'übel' }])
    }
  })

  it('does not treat a request that was refused as a whole as an answer about its terms', async () => {
    const { send, readTerms } = await openWatchlist()
    await send(toAdd('slurs'), 'term,notes\nold,mine\n')
    await send(toAdd('missing-list'), 'term,notes\nnever,\n')
    expect(await readTerms()).toEqual([['old', 'known', 'pre_existing', 'mine']])
  })

  it('names the lists to choose from, and says if no run has changed any', async () => {
    const { send, read } = await openWatchlist()
    const asked = { list: 'insults' }
    await send(toAdd('missing-list'), 'term,notes\nnever,\n')
    await expect(read('watchlist', asked)).rejects.toMatchObject({
      message: 'no run has added or updated terms in `insults` on this service',
      hint: 'These runs changed no watchlist. Check whether the service accepted their rows.',
    })
    await send(toAdd('slurs'), 'term,notes\nold,mine\n')
    await expect(read('watchlist', asked)).rejects.toMatchObject({ hint: 'Choose one of `slurs`.' })
  })

  it.each(['csv', 'xlsx', 'jsonl'])('is the source of further adds and updates as .%s', async (ending) => {
    const { send, exportTo, sandbox } = await openWatchlist()
    const terms = 'term,notes\n=sum(a),"two\nlines; more"\nplain,\n"with, comma",+1\n'
    await send(toAdd('slurs'), terms)
    const before = await sandbox.terms('slurs')
    const { file, rows } = await exportTo('watchlist', `terms.${ending}`)
    expect(rows).toBe(3)
    expect(await send(toUpdate('slurs'), file)).toMatchObject({ terms: { updated: 3, non_existent: 0 } })
    expect(await sandbox.terms('slurs')).toEqual(before)
    await sandbox.admin('PUT', '/watchlists/slurs', { terms: [{ term: 'old', notes: 'from before' }] })
    expect(await send(toAdd('slurs'), file)).toMatchObject({ terms: { added: 3 } })
    expect(await sandbox.terms('slurs')).toEqual(before)
  })
})

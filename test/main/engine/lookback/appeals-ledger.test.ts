import { describe, expect, it } from 'vitest'
import { openLedgerWorkspace } from './ledger-workspace.ts'

const ASK = { kind: 'appeal-status' } as const

/** Creates an appeal in review, or with this decision. */
function toAppeal(id: string, overturned?: boolean) {
  const judgment = { action_name: 'Restore post', overturned }
  return {
    appeal_id: id,
    ...(overturned === undefined ? {} : { status: 'Reviewed', judgment }),
    original_decision: { action_id: 'remove', display_name: 'Remove post' },
  }
}

async function openAppeals() {
  const opened = await openLedgerWorkspace()
  const put = (...appeals: object[]) => opened.sandbox.admin('POST', '/appeals', { appeals })
  await put(toAppeal('first'), toAppeal('second', false), toAppeal('third'))
  return { ...opened, put }
}

describe('the ledger of appeals', () => {
  it('holds the states of each appeal in the order of the answers, and when it was checked', async () => {
    const { send, put, read } = await openAppeals()
    await send(ASK, 'appeal_id\nfirst\nsecond\nthird\nmissing\n')
    await send(ASK, 'appeal_id\nfirst\n')
    await put(toAppeal('first', true))
    await send(ASK, 'appeal_id\nfirst\n')
    const { entries, counts, list } = await read('appeals')
    expect(list).toBeNull()
    expect(counts).toEqual({ overturned: 1, upheld: 1, in_review: 1, not_found: 1 })
    expect(entries.map(({ appeal_id, state, asked }) => [appeal_id, state, asked])).toEqual([
      ['first', 'overturned', 3],
      ['second', 'upheld', 1],
      ['third', 'in_review', 1],
      ['missing', 'not_found', 1],
    ])
    const [first] = entries
    expect(first).toMatchObject({
      status: 'Reviewed',
      action_name: 'Restore post',
      original_action_name: 'Remove post',
      unanswered: 0,
      history: [
        { state: 'in_review', answers: 2 },
        { state: 'overturned', action_name: 'Restore post', answers: 1 },
      ],
    })
    expect(first?.history[0]?.from).not.toBe(first?.history[0]?.until)
    expect(first?.answered_at).toBe(first?.history[1]?.from)
  })

  it('keeps the last known state if a later request had no answer', async () => {
    const { send, setFaults, read } = await openAppeals()
    await send(ASK, 'appeal_id\nfirst\n')
    await setFaults(['503=100%'])
    await send(ASK, 'appeal_id\nfirst\nthird\n')
    const { entries, counts } = await read('appeals')
    expect(counts).toEqual({ in_review: 1, unknown: 1 })
    expect(entries).toMatchObject([
      { appeal_id: 'first', state: 'in_review', outcome: 'unknown', asked: 2, unanswered: 1 },
      { appeal_id: 'third', state: 'unknown', asked: 1, unanswered: 1, answered_at: null, history: [] },
    ])
    expect(entries[0]?.asked_at).not.toBe(entries[0]?.answered_at)
  })

  it('counts a row that a retry sent again once, and the earlier try as unanswered', async () => {
    const { send, setFaults, read, runs } = await openAppeals()
    await setFaults(['503=100%'])
    const lost = await send(ASK, 'appeal_id\nfirst\n')
    await setFaults([])
    await runs.retryAsChild(lost.run_id, 'resend').ended
    expect((await read('appeals')).entries).toMatchObject([
      { appeal_id: 'first', state: 'in_review', unanswered: 1, history: [{ answers: 1 }] },
    ])
  })

  it.each(['csv', 'xlsx', 'jsonl'])('is the source of the next check as .%s', async (ending) => {
    const { send, put, read, exportTo } = await openAppeals()
    await send(ASK, 'appeal_id\nfirst\nsecond\nthird\n')
    await put(toAppeal('third', true))
    const { file, rows } = await exportTo('appeals', `appeals.${ending}`, { states: ['in_review'] })
    expect(rows).toBe(2)
    expect(await send(ASK, file)).toMatchObject({ rows: { read: 2, succeeded: 2 } })
    expect((await read('appeals')).counts).toEqual({ in_review: 1, upheld: 1, overturned: 1 })
  })

  it('belongs to an address, whichever key other operations use there', async () => {
    const { send, read, sandbox } = await openAppeals()
    await send(ASK, 'appeal_id\nfirst\n')
    await send(ASK, 'appeal_id\nfirst\n', {
      connection: { baseUrl: sandbox.baseUrl, apiKeyEnv: 'OTHER_KEY' },
    })
    expect(await read('appeals')).toMatchObject({ runs: 2, entries: [{ asked: 2 }] })
  })
})

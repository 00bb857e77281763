import { describe, expect, it } from 'vitest'
import { WATCHLIST_ADD_PATH } from '../../../src/shared/operations/watchlist-add.ts'
import { WATCHLIST_UPDATE_PATH } from '../../../src/shared/operations/watchlist-update.ts'
import { serviceErrorSchema } from '../../../src/shared/service/errors.ts'
import { watchlistAddResponseSchema, watchlistUpdateResponseSchema } from '../../helpers/answer-schemas.ts'
import { type TestSandbox, withSandbox } from '../../helpers/sandbox.ts'

const LIST = 'mine'

function createSandbox(terms: { term: string; notes?: string | null }[] = []) {
  return withSandbox({ watchlists: { [LIST]: terms } })
}

async function add(sandbox: TestSandbox, terms: unknown) {
  const answer = await sandbox.post(WATCHLIST_ADD_PATH, { watchlist: LIST, terms })
  expect(answer.status).toBe(200)
  const { message, watchlist, ...lists } = watchlistAddResponseSchema.strict().parse(JSON.parse(answer.text))
  expect(watchlist).toBe(LIST)
  expect(message).not.toBe('')
  return lists
}

async function update(sandbox: TestSandbox, terms: unknown) {
  const answer = await sandbox.post(WATCHLIST_UPDATE_PATH, { watchlist: LIST, terms })
  expect(answer.status).toBe(200)
  const { message, watchlist, ...lists } = watchlistUpdateResponseSchema
    .strict()
    .parse(JSON.parse(answer.text))
  expect(watchlist).toBe(LIST)
  expect(message).not.toBe('')
  return lists
}

async function refuse(sandbox: TestSandbox, path: string, body: unknown, key = sandbox.key) {
  const answer = await sandbox.post(path, body, { authorization: `token ${key}` })
  const error = serviceErrorSchema.parse(JSON.parse(answer.text))
  expect(error.status).toBe(answer.status)
  return `${error.status} ${error.error_code}`
}

describe('adding terms', () => {
  it('lower-cases them, and distinguishes new from existing ones', async () => {
    const sandbox = await createSandbox([
      { term: 'known', notes: 'old' },
      { term: 'kept', notes: 'old' },
    ])
    expect(
      await add(sandbox, [{ term: 'NEW', notes: 'n' }, { term: 'Known', notes: 'new' }, { term: 'kept' }]),
    ).toEqual({
      added_terms: [{ term: 'new', notes: 'n' }],
      pre_existing_terms: [
        { term: 'known', notes: 'new' },
        { term: 'kept', notes: 'old' },
      ],
      failed_terms: [],
    })
    expect(await sandbox.terms(LIST)).toEqual([
      { term: 'kept', notes: 'old' },
      { term: 'known', notes: 'new' },
      { term: 'new', notes: 'n' },
    ])
  })

  it('reports the second of two equal terms as existing', async () => {
    const sandbox = await createSandbox()
    expect(await add(sandbox, [{ term: 'One' }, { term: 'one', notes: 'n' }])).toMatchObject({
      added_terms: [{ term: 'one' }],
      pre_existing_terms: [{ term: 'one', notes: 'n' }],
    })
  })

  it('lists terms over the limits as failed, and accepts the others', async () => {
    const sandbox = await createSandbox()
    const long = 'X'.repeat(1025)
    const fits = '🔥'.repeat(1024)
    const terms = [{ term: long, notes: 'n' }, { term: 'a', notes: long }, { term: '' }, { term: fits }]
    expect(await add(sandbox, terms)).toEqual({
      added_terms: [{ term: fits }],
      pre_existing_terms: [],
      failed_terms: [{ term: long, notes: 'n' }, { term: 'a', notes: long }, { term: '' }],
    })
    sandbox.behave({ failedTerms: 'strings' })
    expect((await add(sandbox, terms)).failed_terms).toEqual([long, 'a', ''])
    expect(await sandbox.terms(LIST)).toHaveLength(1)
  })

  it('accepts an empty list, and thousands of terms at once', async () => {
    const sandbox = await createSandbox()
    expect((await add(sandbox, [])).added_terms).toEqual([])
    const terms = Array.from({ length: 5_000 }, (_, i) => ({ term: `term ${i}`, notes: `notes ${i}` }))
    expect((await add(sandbox, terms)).added_terms).toHaveLength(5_000)
    expect((await add(sandbox, terms)).pre_existing_terms).toHaveLength(5_000)
  })

  it('affects text moderation from the next task on', async () => {
    const sandbox = await withSandbox()
    const findTriggered = async (postId: string) => {
      const task = { text_data: 'a Blue Moon tonight', user_id: 'u', post_id: postId }
      const { triggered_rules } = JSON.parse((await sandbox.post('/api/v1/task/sync', task)).text)
      return triggered_rules.map((rule: { rule_id: string }) => rule.rule_id)
    }
    expect(await findTriggered('before')).toEqual([])
    await sandbox.post(WATCHLIST_ADD_PATH, { watchlist: 'sandbox_terms', terms: [{ term: 'blue moon' }] })
    expect(await findTriggered('after')).toEqual(['rule-watchlist'])
  })
})

describe('updating terms', () => {
  it('changes notes, clears them with null, and creates nothing', async () => {
    const sandbox = await createSandbox([
      { term: 'one', notes: 'old' },
      { term: 'two', notes: 'old' },
      { term: 'three', notes: 'old' },
    ])
    const long = 'x'.repeat(1025)
    expect(
      await update(sandbox, [
        { term: 'One', notes: 'new' },
        { term: 'TWO', notes: null },
        { term: 'three' },
        { term: 'Four', notes: 'n' },
        { term: 'one', notes: long },
      ]),
    ).toEqual({
      updated_terms: [{ term: 'one', notes: 'new' }, { term: 'two' }, { term: 'three', notes: 'old' }],
      non_existent_terms: [{ term: 'four', notes: 'n' }],
      failed_terms: [{ term: 'one', notes: long }],
    })
    expect(await sandbox.terms(LIST)).toEqual([
      { term: 'one', notes: 'new' },
      { term: 'three', notes: 'old' },
      { term: 'two', notes: null },
    ])
  })
})

describe('a watchlist request that breaks a rule', () => {
  it.each([
    [{ terms: [] }],
    [{ watchlist: LIST }],
    [{ watchlist: 5, terms: [] }],
    [{ watchlist: LIST, terms: 'one' }],
    [{ watchlist: LIST, terms: ['one'] }],
    [{ watchlist: LIST, terms: [{ notes: 'n' }] }],
    [{ watchlist: LIST, terms: [{ term: 'one', notes: 5 }] }],
    [[]],
  ])('such as %j is refused as a whole', async (body) => {
    const sandbox = await createSandbox()
    expect(await refuse(sandbox, WATCHLIST_ADD_PATH, body)).toBe('400 PARAM_REQUIRED')
    expect(await refuse(sandbox, WATCHLIST_UPDATE_PATH, body)).toBe('400 PARAM_REQUIRED')
    expect(await sandbox.terms(LIST)).toEqual([])
  })

  it('has some of its problems named, however many there are', async () => {
    const sandbox = await createSandbox()
    const terms = Array.from({ length: 5_000 }, () => ({ notes: 'n' }))
    const answer = await sandbox.post(WATCHLIST_ADD_PATH, { watchlist: LIST, terms })
    const { message } = JSON.parse(answer.text)
    expect(message).toContain('terms.9.term: is required; and 4990 more')
  })

  it('has null as notes on add', async () => {
    const sandbox = await createSandbox([{ term: 'one', notes: 'n' }])
    const body = { watchlist: LIST, terms: [{ term: 'one', notes: null }] }
    expect(await refuse(sandbox, WATCHLIST_ADD_PATH, body)).toBe('400 PARAM_REQUIRED')
  })

  it('has an unknown watchlist, or the wrong key', async () => {
    const sandbox = await createSandbox()
    const unknown = { watchlist: 'yours', terms: [] }
    for (const path of [WATCHLIST_ADD_PATH, WATCHLIST_UPDATE_PATH]) {
      expect(await refuse(sandbox, path, unknown)).toBe('400 INVALID_WATCHLIST')
      expect(await refuse(sandbox, path, { watchlist: LIST, terms: [] }, 'wrong')).toBe('403 INVALID_API_KEY')
    }
  })

  it('has too many terms, if a maximum is set', async () => {
    const sandbox = await createSandbox()
    sandbox.behave({ maxTermsPerRequest: 2 })
    const terms = [{ term: 'a' }, { term: 'b' }, { term: 'c' }]
    expect(await refuse(sandbox, WATCHLIST_ADD_PATH, { watchlist: LIST, terms })).toBe('413 TOO_MANY_TERMS')
    expect(await sandbox.terms(LIST)).toEqual([])
    expect((await add(sandbox, terms.slice(1))).added_terms).toHaveLength(2)
  })

  it('is answered on request with the contradictory pairing on add, but not on update', async () => {
    const sandbox = await withSandbox({ watchlistAddCodes: 'contradictory' })
    expect(await refuse(sandbox, WATCHLIST_ADD_PATH, {})).toBe('403 PARAM_REQUIRED')
    expect(await refuse(sandbox, WATCHLIST_ADD_PATH, {}, 'wrong')).toBe('400 INVALID_API_KEY')
    expect(await refuse(sandbox, WATCHLIST_UPDATE_PATH, {})).toBe('400 PARAM_REQUIRED')
    expect(await refuse(sandbox, WATCHLIST_UPDATE_PATH, {}, 'wrong')).toBe('403 INVALID_API_KEY')
  })
})

describe('faults of watchlists', () => {
  it('hit a request and its repetitions by their content', async () => {
    const sandbox = await withSandbox({ faults: ['5xx-after=100%,tries=1'], watchlists: { [LIST]: [] } })
    const body = { watchlist: LIST, terms: [{ term: 'one' }] }
    expect((await sandbox.post(WATCHLIST_ADD_PATH, body)).status).toBeGreaterThanOrEqual(500)
    expect((await add(sandbox, body.terms)).pre_existing_terms).toEqual([{ term: 'one' }])
    expect((await sandbox.post(WATCHLIST_ADD_PATH, { ...body, terms: [] })).status).toBeGreaterThan(499)
    expect((await sandbox.requests('watchlist-add')).map(({ outcome }) => outcome)).toEqual([
      'fault:5xx-after',
      'accepted',
      'fault:5xx-after',
    ])
  })
})

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readScoreClasses } from '../../../../src/main/engine/journal/found-reader.ts'
import { ReaderPool, type RunFamily, readRunFamily } from '../../../../src/main/engine/journal/run-family.ts'
import { compareDecisions, listChanges } from '../../../../src/main/engine/lookback/compare-decisions.ts'
import { KeptPairs } from '../../../../src/main/engine/lookback/kept-pairs.ts'
import { RowFindings } from '../../../../src/main/engine/run/results/row-findings.ts'
import { toFindingsFile, toJournalFile } from '../../../../src/main/engine/workspace/workspace-files.ts'
import type { SandboxOptions } from '../../../../src/main/sandbox/sandbox-options.ts'
import type { CompareOptions } from '../../../../src/shared/lookback/comparison.ts'
import { toMcNemarP } from '../../../../src/shared/lookback/paired-rule.ts'
import { type Plan, planSchema } from '../../../../src/shared/plan/plan.ts'
import { createInProcessRuns, RUN_KEY } from '../../../helpers/in-process-runs.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { withSandbox } from '../../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { writeSource } from '../../cli/write-source.ts'

const OPTIONS: CompareOptions = {
  by: null,
  list: { kind: 'changed' },
  offset: 0,
  limit: 50,
  labels: null,
}

/** A service whose rule `Pets` changes between runs, with functions to send a source and compare two runs. */
async function prepare(options: SandboxOptions = {}) {
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox({ apiKeys: [RUN_KEY], ...options })
  const runs = createInProcessRuns(folder)
  const setRule = async (...terms: string[]) => {
    await sandbox.admin('PUT', '/watchlists/pets', { terms: terms.map((term) => ({ term, notes: 'n' })) })
    await sandbox.admin('PUT', '/rules/rule-pets', {
      rule_name: 'Pets',
      conditions: [{ subject: 'watchlist', watchlist: 'pets' }],
    })
    // The service forgets its analyses, so that no answer comes from its cache.
    await sandbox.admin('DELETE', '/tasks')
  }
  const toPlan = (rows: readonly string[], { name = 'posts.csv', plan = {} }: SendOptions = {}) => {
    const path = writeSource(folder, name, `post_id,user_id,text_data,truth\n${rows.join('\n')}\n`)
    return planSchema.parse({
      connection: { baseUrl: sandbox.baseUrl },
      source: { path },
      operation: { kind: 'task', legacy: true },
      ...plan,
    })
  }
  const send = async (rows: readonly string[], options: SendOptions = {}) => {
    const run = runs.start(toPlan(rows, options))
    await run.ended
    return run.runId
  }
  const pool = new ReaderPool()
  onTestFinished(() => pool.close())
  /** Runs that appear to be held by another process. */
  const held = new Set<string>()
  const open = (runId: string) =>
    readRunFamily(pool, toJournalFile(folder, runId), (member) => held.has(member)) ?? expect.fail('no run')
  const kept = new KeptPairs()
  onTestFinished(() => kept.close())
  const store = (family: RunFamily) => {
    const findings = new RowFindings(null, 1)
    while (!findings.isComplete) findings.step(family)
  }
  /** Compares two runs anew, using the findings stored beside their journals. */
  const compareAnew = async (a: string, b: string, options: Partial<CompareOptions> = {}) => {
    const pairs = new KeptPairs()
    const compared = await compareDecisions(pairs, open(a), open(b), { ...OPTIONS, ...options })
    pairs.close()
    return compared
  }
  /** Compares two runs by their journals and by the stored findings; both must agree. */
  const compare = async (a: string, b: string, options: Partial<CompareOptions> = {}) => {
    const families = [open(a), open(b)] as const
    const compared = await compareDecisions(kept, ...families, { ...OPTIONS, ...options })
    for (const family of families) store(family)
    expect(await compareAnew(a, b, options)).toEqual(compared)
    for (const { record } of families.flatMap(({ members }) => members)) {
      rmSync(toFindingsFile(folder, record.runId), { force: true })
    }
    return compared
  }
  const list = (a: string, b: string, options: Partial<CompareOptions> = {}) =>
    listChanges(kept, open(a), open(b), { ...OPTIONS, ...options })
  return { folder, sandbox, runs, setRule, toPlan, send, compare, compareAnew, store, list, kept, open, held }
}

interface SendOptions {
  name?: string
  plan?: Partial<Record<keyof Plan, unknown>>
}

const WORDS = ['a cat', 'a dog', 'a fish', 'a cat and a dog', 'nothing', 'a bird']

const ROWS = Array.from({ length: 60 }, (_, index) => {
  const text = WORDS[index % WORDS.length] ?? ''
  return `p${index},u1,${text} number ${index},${/dog|bird/.test(text) ? 'pets' : 'other'}`
})

/** Numbers of the rows that match one pattern but not another. */
const find = (pattern: RegExp, not: RegExp) =>
  ROWS.flatMap((row, index) => (pattern.test(row) && !not.test(row) ? [index + 1] : []))

/** The numbers of the first row. */
const FIRST = { row: 2, record: 1, place: { row: 2, line: null } }

describe('two runs with one rule changed in between', () => {
  it('differ exactly on the rows that the rule treats differently', async () => {
    const { setRule, send, compare } = await prepare()
    await setRule('cat', 'fish')
    const a = await send(ROWS)
    await setRule('dog', 'fish', 'bird')
    const b = await send(ROWS)
    const [newly, noLonger] = [find(/dog|bird/, /cat|fish/), find(/cat|fish/, /dog|fish|bird/)]
    const compared = await compare(a, b, { limit: 100 })
    expect(compared.joined_by).toBe('post_id')
    expect(compared.joined).toMatchObject({
      rows: 60,
      changed: newly.length + noLonger.length,
      share: (newly.length + noLonger.length) / 60,
    })
    const [pets] = compared.joined.rules
    expect(pets).toEqual({
      rule: 'Pets',
      rule_ids: ['rule-pets'],
      newly: 20,
      no_longer: 10,
      both: 20,
      neither: 10,
      p: toMcNemarP(20, 10),
    })
    expect(
      compared.listed.rows.filter((row) => row.newly.length > 0).map(({ b: { record } }) => record),
    ).toEqual(newly)
    expect(
      compared.listed.rows.filter((row) => row.no_longer.length > 0).map(({ b: { record } }) => record),
    ).toEqual(noLonger)
    expect(compared.listed.rows[0]).toMatchObject({
      key: 'p0',
      a: { ...FIRST, outcome: 'succeeded', triggered_rules: ['Pets'] },
      b: { ...FIRST, outcome: 'succeeded', triggered_rules: [] },
      no_longer: ['Pets'],
      cells: ['p0', 'u1', 'a cat number 0', 'other'],
    })
    const page = await compare(a, b, { list: { kind: 'newly', rule: 'rule-PETS' }, offset: 5, limit: 3 })
    expect(page.listed).toMatchObject({ total: newly.length, offset: 5 })
    expect(page.listed.rows.map(({ b: { record } }) => record)).toEqual(newly.slice(5, 8))
    expect(compared.outcomes.listed).toEqual([])
    expect(compared.warnings).toEqual([])
  })

  it('warn of rows that trigger other rules because their content differs, unless they are joined by content', async () => {
    const { setRule, send, compare } = await prepare()
    await setRule('cat')
    const a = await send(ROWS)
    const edited = ROWS.map((row, index) => (index < 18 ? row.replace('a dog', 'a cat once a dog') : row))
    await setRule('cat')
    const b = await send(edited, { name: 'edited.csv' })
    const { joined, joined_by, warnings } = await compare(a, b)
    expect([joined_by, joined.changed]).toEqual(['post_id', 3])
    expect(warnings).toEqual([
      'Of 3 rows that trigger other rules, 3 were sent with another text or address in B, which may be why they differ. To leave them out, join rows by content.',
    ])
    expect(await compare(a, b, { by: 'content' })).toMatchObject({ joined: { changed: 0 }, warnings: [] })
    await setRule('cat', 'bird')
    const c = await send(edited, { name: 'edited.csv' })
    const ofAll = await compare(a, c)
    expect(ofAll.warnings).toEqual([
      expect.stringMatching(/^Of 13 rows that trigger other rules, 3 were sent /),
    ])
    expect((await compare(b, c)).warnings).toEqual([])
  })

  it('look at an even sample of very many rows that trigger other rules', async () => {
    onlyInLongForm()
    const { setRule, send, compare } = await prepare()
    await setRule('cat')
    const rows = Array.from({ length: 5_002 }, (_, index) => `p${index},u1,a dog ${index},x`)
    const a = await send(rows)
    const edited = rows.map((row, index) => row.replace('a dog', index % 4 < 2 ? 'a cat' : 'a dog'))
    await setRule('cat')
    const ofHalf = await compare(a, await send(edited, { name: 'edited.csv' }))
    expect(ofHalf.warnings).toEqual([expect.stringMatching(/^Of 2,502 rows that .*, 2,502 were sent /)])
    await setRule('cat', 'dog')
    const { warnings } = await compare(a, await send(edited, { name: 'again.csv' }))
    expect(warnings).toEqual([
      expect.stringMatching(/^Of 5,002 rows that .*, 2,501 were looked at: 1,251 of them were sent /),
    ])
  })

  it('show the change of each metric if there are labels', async () => {
    const { setRule, send, compare } = await prepare()
    await setRule('cat', 'fish')
    const a = await send(ROWS)
    await setRule('dog', 'fish', 'bird')
    const b = await send(ROWS)
    const labels = {
      label: 'truth',
      useVerdicts: false,
      separator: null,
      positives: [{ value: 'pets', rule: 'Pets' }],
    }
    const { labels: judged } = await compare(a, b, { labels })
    // Dog and bird should trigger: A found 10 of 30 with 20 false alarms, B found 30 with 10 false alarms.
    expect(judged).toMatchObject({ rows: 60, without_label: 0 })
    expect(judged?.rules[0]).toMatchObject({
      rule: 'Pets',
      a: { precision: { value: 1 / 3 }, recall: { value: 1 / 3 } },
      b: { precision: { value: 0.75 }, recall: { value: 1 } },
      right_only_in_a: 0,
      right_only_in_b: 30,
      p: toMcNemarP(30, 0),
    })
    const change = judged?.rules[0]?.change ?? expect.fail('no rule')
    expect(change.recall.value).toBeCloseTo(2 / 3, 12)
    expect(change.recall.low ?? 0).toBeGreaterThan(0.4)
    await expect(compare(a, b, { labels: { ...labels, label: 'turth' } })).rejects.toMatchObject({
      code: 'BAD_USAGE',
    })
  })

  it('are joined by content if post_ids and order differ, without duplicates', async () => {
    onlyInLongForm()
    const { setRule, send, compare } = await prepare()
    await setRule('cat')
    const a = await send([
      'a1,u1,a cat,x',
      'a2,u1,a dog,x',
      'a3,u1,a cow,x',
      'a4,u1,twice,x',
      'a5,u1,only a,x',
    ])
    await setRule('dog')
    const other = ['b1,u1,twice,x', 'b2,u1,a cow,x', 'b3,u1,twice,x', 'b4,u1,a dog,x', 'b5,u1,a cat,x']
    const b = await send(other, { name: 'other.csv' })
    const compared = await compare(a, b, { by: 'content' })
    expect(compared.joined.rows).toBe(3)
    expect(compared.a).toMatchObject({ rows: 5, only_here: 1, ambiguous: 1, without_key: 0 })
    expect(compared.b).toMatchObject({ rows: 5, only_here: 0, ambiguous: 2, without_key: 0 })
    const listed = compared.listed.rows.map((row) => [row.a.record, row.b.record, row.newly, row.no_longer])
    expect(listed).toEqual([
      [2, 4, ['Pets'], []],
      [1, 5, [], ['Pets']],
    ])
    expect(compared.warnings.join()).toContain('1 row of A and 2 of B are not compared')
    const byId = await compare(a, b)
    expect(compared.ambiguous_keys).toEqual([])
    expect((await compare(a, b, { by: 'text_data' })).ambiguous_keys).toEqual(['twice'])
    expect(byId).toMatchObject({ joined_by: 'post_id', joined: { rows: 0, share: null } })
    expect(byId.warnings.join()).toContain(
      'Only 0 of 5 rows were found in both runs by post_id. Try to join them in another way: by row, content or a column.',
    )
    expect((await compare(a, b, { by: 'row' })).joined.rows).toBe(5)
    expect((await compare(a, b, { by: '3' })).joined_by).toBe('text_data')
    await expect(compare(a, b, { by: 'txet' })).rejects.toMatchObject({ code: 'BAD_USAGE' })
  })

  it('are not advised to be joined by what was tried', async () => {
    const { send, compare } = await prepare()
    const a = await send(['a1,u1,a cat,x', 'a2,u1,a dog,x'])
    const b = await send(['b1,u1,a cow,x', 'b2,u1,a bee,x'])
    const { warnings } = await compare(a, b, { by: 'content' })
    expect(warnings).toContain(
      'Only 0 of 2 rows were found in both runs by content. Try to join them in another way: by row or a column.',
    )
  })

  it('are joined by row only while the rows of their source have the same numbers', async () => {
    const { send, compare } = await prepare()
    const plan = { mapping: { post_id: { kind: 'template', template: '{{run}}-{{row}}' } } }
    const rows = ROWS.slice(0, 6)
    const other = ['q1,u1,one,x', 'q2,u1,two,x', 'q3,u1,three,x', 'q4,u1,four,x', 'q5,u1,five,x']
    const a = await send(rows, { plan })
    for (const [changed, expected] of [
      [[...rows, ...other], { joined_by: 'row', joined: { rows: 6 } }],
      [rows.with(2, 'p2,u1,edited,x'), { joined_by: 'row', joined: { rows: 6 } }],
      [rows.toSpliced(4, 0, 'new,u1,put in between,x'), { joined_by: 'content', joined: { rows: 6 } }],
      [[...rows.slice(0, 1), ...other], { joined_by: 'content', joined: { rows: 1 } }],
    ] as const) {
      expect(await compare(a, await send(changed, { plan }))).toMatchObject(expected)
    }
  })

  it('are joined by row if a browser uploaded their file to a new folder each time', async () => {
    const { folder, send, compare } = await prepare()
    const plan = { mapping: { post_id: { kind: 'template', template: '{{run}}-{{row}}' } } }
    const upload = (rows: readonly string[], digit: string) => {
      mkdirSync(join(folder, 'uploads', digit.repeat(24)), { recursive: true })
      return send(rows, { name: `uploads/${digit.repeat(24)}/posts.csv`, plan })
    }
    const rows = [...ROWS.slice(0, 6), 'p6,u1,twice,x', 'p7,u1,twice,x']
    const a = await upload(rows, 'a')
    const b = await upload(rows.with(2, 'p2,u1,edited,x'), 'b')
    expect(await compare(a, b)).toMatchObject({ joined_by: 'row', joined: { rows: 8 } })
  })

  it('compare cached answers like all others by their rules, which are applied anew', async () => {
    onlyInLongForm()
    const { sandbox, setRule, send, compare } = await prepare()
    await setRule('cat')
    const a = await send(ROWS, {
      plan: { mapping: { post_id: { kind: 'template', template: '{{run}}-{{row}}' } } },
    })
    await sandbox.admin('PUT', '/watchlists/pets', { terms: [{ term: 'dog', notes: 'n' }] })
    const b = await send(
      [...ROWS.slice(0, 30), ...ROWS.slice(30).map((row) => row.replace(' number', ' No.'))],
      {
        plan: { mapping: { post_id: { kind: 'template', template: '{{run}}-{{row}}' } } },
      },
    )
    const { joined_by: by, joined, from_cache: cached, warnings, listed } = await compare(a, b)
    expect(by).toBe('row')
    expect(cached).toEqual({ rows: 30, changed: 10, share: 1 / 3 })
    expect(joined).toMatchObject({ rows: 60, changed: 20, decided: 60 })
    expect(joined.rules[0]).toMatchObject({ newly: 10, no_longer: 10, both: 10, neither: 30 })
    expect(listed.total).toBe(20)
    expect((await compare(a, b, { list: { kind: 'from-cache' } })).listed.total).toBe(10)
    expect(warnings).toEqual([expect.stringMatching(/^Of 20 rows .*, 10 were sent with another text/)])
  })

  it('warn of cached answers if none of them triggers other rules', async () => {
    onlyInLongForm()
    const { setRule, send, compare } = await prepare()
    await setRule('cat')
    const plan = { mapping: { post_id: { kind: 'template', template: '{{run}}-{{row}}' } } }
    const { warnings } = await compare(await send(ROWS, { plan }), await send(ROWS, { plan }))
    expect(warnings).toEqual([
      expect.stringMatching(/^For 60 rows \(100 %\), the service had analysed the content before/),
    ])
  })

  it('count rows with different outcomes', async () => {
    const { sandbox, setRule, send, compare } = await prepare()
    await setRule('cat')
    const a = await send([...ROWS, 'p_bad,u1,never sent,x'])
    await sandbox.admin('DELETE', '/tasks')
    const b = await send([...ROWS.slice(0, 59), ',u1,no id,x', 'p_bad,u1,never sent,x'])
    const compared = await compare(a, b, { by: 'row', list: { kind: 'outcome' } })
    expect(compared.outcomes).toEqual({
      listed: [{ a: 'succeeded', b: 'invalid', rows: 1 }],
      further_rows: 0,
    })
    expect(compared.joined).toMatchObject({ rows: 61, changed: 1, decided: 59 })
    expect(compared.listed.rows).toMatchObject([{ b: { row: 61, record: 60, outcome: 'invalid' } }])
    expect((await compare(a, b)).b).toMatchObject({ without_key: 1 })
  })

  it('are compared by the newest answer of each row, retries included', async () => {
    const { runs, setRule, send, compare } = await prepare({ faults: ['422=40%,tries=1'], seed: 'retry' })
    await setRule('cat')
    const a = await send(ROWS.slice(0, 20))
    await runs.retryAsChild(a).ended
    await setRule('cat')
    const b = await send(ROWS.slice(0, 20))
    const failed = runs.summarize(b).rows.rejected
    expect(failed).toBeGreaterThan(2)
    const before = await compare(a, b)
    expect(before.outcomes.listed).toMatchObject([{ a: 'succeeded', rows: failed }])
    expect(before.outcomes.listed[0]?.b).toMatch(/^rejected /)
    expect(before.joined).toMatchObject({ changed: failed, decided: 20 - failed })
    await runs.retryAsChild(b).ended
    expect((await compare(a, b)).joined).toMatchObject({ rows: 20, changed: 0, share: 0 })
  })

  it('say how far the scores of each class moved', async () => {
    const { folder, setRule, send, compare, compareAnew, store, open } = await prepare()
    await setRule('cat')
    const a = await send(ROWS.slice(0, 9))
    await setRule('cat')
    const b = await send(ROWS.slice(0, 9))
    expect(await compare(a, b)).toMatchObject({ scored_rows: 9, scores: [] })
    const journal = new DatabaseSync(toJournalFile(folder, b))
    const columns = new Map(readScoreClasses(journal).map(({ className, column }) => [className, column]))
    const [spam, hate] = [columns.get('spam'), columns.get('hate')]
    journal.exec(`UPDATE found SET ${spam} = ${spam} + 0.25 WHERE row IN (2, 3);
      UPDATE found SET ${spam} = ${spam} + 0.5 WHERE row = 7;
      UPDATE found SET ${spam} = ${spam} - 0.25, ${hate} = ${hate} - 0.25 WHERE row = 9`)
    journal.close()
    const { scores, scored_rows: scoredRows, joined } = await compare(a, b)
    expect(joined.changed).toBe(0)
    expect(scoredRows).toBe(9)
    expect(scores).toMatchObject([
      {
        class: 'spam',
        from_cache: false,
        rose: 3,
        fell: 1,
        mean: 0.1875,
        mean_absolute: 0.3125,
        largest_rise: { row: 8, record: 7, b: (scores[0]?.largest_rise?.a ?? 0) + 0.5 },
        largest_fall: { row: 10, record: 9 },
        distribution: {
          width: 0.05,
          moves: [
            { move: -0.25, rows: 1 },
            { move: 0.25, rows: 2 },
            { move: 0.5, rows: 1 },
          ],
        },
      },
      { class: 'hate', rose: 0, fell: 1, largest_rise: null },
    ])
    // If any stored findings are damaged, everything is reread from the journals.
    for (const runId of [a, b]) store(open(runId))
    const file = toFindingsFile(folder, b)
    const whole = readFileSync(file)
    for (let at = 0; at < whole.length; at += 53) {
      const damaged = Buffer.from(whole)
      damaged[at] = (damaged[at] ?? 0) ^ 0x10
      writeFileSync(file, damaged)
      expect(await compareAnew(a, b), `byte ${at}`).toMatchObject({ scores, scored_rows: scoredRows })
    }
  })

  it('say that no row has scores if one of the runs did not request them', async () => {
    const { setRule, send, compare } = await prepare()
    await setRule('cat')
    const a = await send(ROWS.slice(0, 9))
    await setRule('cat')
    const b = await send(ROWS.slice(0, 9), { plan: { operation: { kind: 'task' } } })
    expect(await compare(a, b)).toMatchObject({ joined: { rows: 9 }, scored_rows: 0, scores: [] })
  })

  it('leave out rows that one of them has not finished, and say why', async () => {
    onlyInLongForm()
    const { runs, setRule, toPlan, send, compare, held } = await prepare()
    await setRule('cat')
    const a = await send(ROWS)
    await setRule('dog')
    const cut = runs.start(toPlan(ROWS), { hold: true })
    await cut.until(({ phase }) => phase === 'ready')
    cut.command({ kind: 'begin', limit: 20 })
    await cut.until(({ phase, rows }) => phase === 'ready' && rows.succeeded === 20)
    cut.command({ kind: 'stop' })
    await cut.ended
    const b = cut.runId
    const [newly, noLonger] = [find(/dog/, /cat/), find(/cat/, /dog/)].map((rows) =>
      rows.filter((row) => row <= 20),
    )
    const early = await compare(a, b, { limit: 100 })
    expect(early).toMatchObject({
      joined: { rows: 20, changed: (newly?.length ?? 0) + (noLonger?.length ?? 0) },
      unfinished: 40,
      a: { state: 'completed', unfinished: 0, only_here: 0 },
      b: { state: 'completed', unfinished: 40, only_here: 0 },
      outcomes: { listed: [], further_rows: 0 },
      warnings: [
        'B is complete, but was a trial of its first rows or waits for callbacks: 40 of its 60 rows have no outcome yet and are not compared.',
      ],
    })
    expect(early.listed.rows).toHaveLength(early.joined.changed)
    expect(await compare(a, b, { by: 'row' })).toMatchObject({ joined: { rows: 20 }, unfinished: 40 })
    expect(await compare(b, a)).toMatchObject({ joined: { rows: 20 }, unfinished: 40 })
    const journal = new DatabaseSync(toJournalFile(runs.workspace, b))
    journal.exec("UPDATE run SET state = 'interrupted'")
    journal.close()
    expect((await compare(a, b)).warnings).toEqual([
      'B ended early: 40 of its 60 rows have no outcome yet and are not compared.',
    ])
    held.add(b)
    expect((await compare(a, b)).warnings).toEqual([
      'B is still running. 40 of its 60 rows have no outcome yet and are not compared.',
    ])
    held.clear()
    await runs.resume(b).ended
    expect(await compare(a, b)).toMatchObject({ joined: { rows: 60 }, unfinished: 0, warnings: [] })
  })

  it('count rows with missing callbacks in both runs as unanswered', async () => {
    const { sandbox, runs, toPlan, compare } = await prepare({ callbacks: 'drop=100%' })
    const plan = toPlan(ROWS.slice(0, 3), {
      plan: { operation: { kind: 'task', mode: 'async' }, callback: { timeoutMs: 1 } },
    })
    const send = async () => {
      const run = runs.start(plan, { callbackBase: 'http://127.0.0.1:1' })
      expect((await run.ended).rows).toMatchObject({ overdue: 3 })
      await sandbox.admin('DELETE', '/tasks')
      return run.runId
    }
    const a = await send()
    expect(await compare(a, await send())).toMatchObject({
      joined: { rows: 3, changed: 0, decided: 0 },
      unanswered: 3,
    })
  })

  it('leave out rows that a correction left out of one of them', async () => {
    onlyInLongForm()
    const { setRule, send, compare } = await prepare()
    await setRule('cat')
    const a = await send(ROWS)
    const fixes = [1, 2, 3].map((row) => ({ kind: 'leave_out_row', row }))
    await setRule('cat')
    const b = await send(ROWS, { plan: { fixes, accept: ['fixes_do_not_fit'] } })
    for (const by of [null, 'row']) {
      for (const [first, second] of [
        [a, b],
        [b, a],
      ] as const) {
        expect(await compare(first, second, { by })).toMatchObject({
          joined: { rows: ROWS.length - 3, changed: 0 },
          left_out: 3,
          unfinished: 0,
          warnings: [],
          a: { only_here: 0 },
          outcomes: { listed: [], further_rows: 0 },
        })
      }
    }
  })

  it('list their changes page by page from rows that are joined once, and anew when a run changed', async () => {
    onlyInLongForm()
    const { folder, setRule, send, compare, list, kept, open } = await prepare()
    await setRule('cat', 'fish')
    const a = await send(ROWS)
    await setRule('dog', 'fish', 'bird')
    const b = await send(ROWS)
    const { listed } = await compare(a, b, { limit: 100 })
    const joined: unknown[] = []
    const remember = () => joined.push(kept.join(open(a), open(b), null).pairs)
    remember()
    const pages = [await list(a, b, { limit: 20 }), await list(a, b, { offset: 20, limit: 20 })]
    expect(pages.flatMap(({ rows }) => rows)).toEqual(listed.rows)
    expect(pages.map(({ total }) => total)).toEqual([listed.total, listed.total])
    remember()
    expect(joined[1] === joined[0]).toBe(true)
    const journal = new DatabaseSync(toJournalFile(folder, b))
    journal.exec(`UPDATE result SET state = 'rejected', error_code = 'CHANGED' WHERE row = 1`)
    journal.close()
    expect((await list(a, b, { list: { kind: 'outcome' } })).rows).toMatchObject([
      { b: { row: 2, record: 1, outcome: 'rejected CHANGED' } },
    ])
    remember()
    expect(joined[2] === joined[0]).toBe(false)
  })

  it('are refused if they have no decisions in common', async () => {
    const { setRule, send, compare } = await prepare()
    await setRule('cat')
    const a = await send(ROWS.slice(0, 2))
    const terms = await send(['t1,u1,gift card,x'], {
      plan: {
        operation: { kind: 'watchlist-add', watchlist: 'pets' },
        mapping: { term: { kind: 'column', column: 'text_data' } },
      },
    })
    await expect(compare(a, terms)).rejects.toThrow(/one is `task`, the other `watchlist-add`/)
    expect((await compare(terms, terms)).joined).toMatchObject({ rows: 1, changed: 0, share: 0 })
    await expect(compare(terms, terms, { by: 'post_id' })).rejects.toThrow(/has no post_id|have no post_id/)
    const other = await send(['z1,u1,x,x'])
    expect(await compare(a, other)).toMatchObject({
      joined: { rows: 0, changed: 0, share: null },
      a: { only_here: 2 },
    })
  })

  it('are never exported over the source of either run', async () => {
    const { folder, send, compare } = await prepare()
    const a = await send(['p1,u1,one,x'], { name: 'a.csv' })
    const b = await send(['p1,u1,one,x'], { name: 'b.csv' })
    for (const name of ['a.csv', 'b.csv']) {
      const file = join(folder, name)
      await expect(compare(a, b, { exportFile: file })).rejects.toMatchObject({ code: 'BAD_USAGE' })
      expect(readFileSync(file, 'utf8')).toMatch(/^post_id,/)
    }
  })

  it('export names of rules so that they are distinguishable', async () => {
    const { folder, sandbox, setRule, send, compare } = await prepare()
    await setRule('cat')
    const a = await send(ROWS.slice(0, 1))
    await setRule('dog')
    const conditions = [{ subject: 'watchlist', watchlist: 'sandbox_terms' }]
    await sandbox.admin('PUT', '/watchlists/sandbox_terms', { terms: [{ term: 'cat', notes: 'n' }] })
    await sandbox.admin('PUT', '/rules/rule-cats', { rule_name: 'Cats; and more', conditions })
    const b = await send(ROWS.slice(0, 1))
    const file = join(folder, 'changed.jsonl')
    const table = join(folder, 'changed.csv')
    for (const exportFile of [file, table]) await compare(a, b, { exportFile })
    const { newly } = JSON.parse(readFileSync(file, 'utf8'))
    expect(newly).toHaveLength(2)
    // Once as new, once as triggered in B.
    const listed = `"${JSON.stringify(newly).replaceAll('"', '""')}"`
    expect(readFileSync(table, 'utf8').split(listed)).toHaveLength(3)
  })

  it('export the changed rows with the answers of both runs', async () => {
    onlyInLongForm()
    const { folder, setRule, send, compare } = await prepare()
    await setRule('cat')
    const a = await send(ROWS.slice(0, 6))
    await setRule('dog')
    const b = await send(ROWS.slice(0, 6))
    const file = join(folder, 'changed.csv')
    expect((await compare(a, b, { exportFile: file })).exported).toMatchObject({ file, rows: 2 })
    const [header, first, second] = readFileSync(file, 'utf8').trimEnd().split('\r\n')
    expect(header).toMatch(
      /truth,sluice_newly_triggered,sluice_no_longer_triggered,sluice_a_row,sluice_a_record,sluice_a_outcome,sluice_a_triggered_rules,sluice_row/,
    )
    expect(first).toMatch(/^p0,u1,a cat number 0,other,,Pets,2,1,succeeded,Pets,2,succeeded/)
    expect(second).toMatch(/^p1,u1,a dog number 1,pets,Pets,,3,2,succeeded,,3,succeeded/)
    const lines = join(folder, 'changed.jsonl')
    await compare(a, b, { exportFile: lines, list: { kind: 'newly', rule: 'Pets' } })
    expect(JSON.parse(readFileSync(lines, 'utf8').trimEnd())).toMatchObject({
      row: 3,
      record: 2,
      newly: ['Pets'],
      no_longer: [],
      a: { row: 3, record: 2, outcome: 'succeeded', triggered_rules: [] },
    })
    await expect(compare(a, b, { list: { kind: 'newly', rule: 'Cats' } })).rejects.toMatchObject({
      code: 'BAD_USAGE',
    })
  })
})

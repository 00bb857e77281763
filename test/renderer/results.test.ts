import { QueryClient } from '@tanstack/react-query'
import { describe, expect, it } from 'vitest'
import { PAGE_ROWS } from '../../src/renderer/bridge/read-ahead.ts'
import { NARROWED_BY_VERDICT, readNarrowedAgain } from '../../src/renderer/bridge/verdicts.ts'
import { listTextColumns, toUsualColumns } from '../../src/renderer/features/results/result-columns.tsx'
import { createResultPages, PAGES_KEPT } from '../../src/renderer/features/results/result-pages.ts'
import { isSameFilter } from '../../src/renderer/features/results/results-screen.tsx'
import { move, moveTo, toNextSort } from '../../src/renderer/features/results/results-table.tsx'
import { toggleFacet, withSearch } from '../../src/renderer/features/results/use-results.ts'
import { STATE_LOOKS, toStateLook } from '../../src/renderer/ui/states/row-states.tsx'
import type { PageRow } from '../../src/shared/bridge/results.ts'
import { prettyJson } from '../../src/shared/messages/pretty-json.ts'
import { describeState } from '../../src/shared/messages/state-name.ts'
import { ROW_ANSWERS, type RowState } from '../../src/shared/run/item-state.ts'
import { type Facet, listChosen } from '../../src/shared/run/row-filters.ts'

describe('JSON for reading', () => {
  it('indents without changing a value, even an integer beyond double precision', () => {
    expect(prettyJson('{"a":[1,{"b":12345678901234567890}],"c":{},"d":"x,y:{}"}')).toBe(
      '{\n  "a": [\n    1,\n    {\n      "b": 12345678901234567890\n    }\n  ],\n  "c": {},\n  "d": "x,y:{}"\n}',
    )
  })

  it('takes linear time, not quadratic, however deeply brackets are nested', () => {
    const deep = '['.repeat(15_000) + ']'.repeat(15_000)
    const shown = prettyJson(deep)
    expect(shown.length).toBeLessThan(deep.length * 110)
    expect(JSON.parse(shown)).toBeInstanceOf(Array)
  })

  it('leaves what is not JSON as it is', () => {
    expect(prettyJson('<html>502</html>')).toBe('<html>502</html>')
  })
})

describe('narrowing by facets', () => {
  const added: Facet = { kind: 'answer', value: 'added', label: 'added', rows: 4 }
  const rejected: Facet = { kind: 'state', value: 'rejected', label: 'rejected', rows: 3 }
  const rule: Facet = { kind: 'rule', value: 'r1', label: 'Spam', rows: 2 }

  it("filters by the service's answer and by state", () => {
    const both = toggleFacet(toggleFacet({}, added), rejected)
    expect(both).toEqual({ answer: 'added', state: 'rejected' })
    expect(toggleFacet(both, added)).toEqual({ state: 'rejected' })
    expect(toggleFacet({}, { ...added, value: 'nothing of the kind' })).toEqual({})
  })

  it('combines one of each kind, and removes one when it is pressed again', () => {
    const both = toggleFacet(toggleFacet({}, rejected), rule)
    expect(both).toEqual({ state: 'rejected', ruleIds: ['r1'] })
    expect(toggleFacet(both, rejected)).toEqual({ ruleIds: ['r1'] })
  })

  it('takes several rules, and an error or a cause of errors', () => {
    const none: Facet = { kind: 'rule', value: '', label: 'no rule', rows: 2 }
    const both = toggleFacet(toggleFacet({}, rule), none)
    expect(both).toEqual({ ruleIds: ['r1', ''] })
    expect(toggleFacet(both, rule)).toEqual({ ruleIds: [''] })
    expect(toggleFacet({ ruleIds: [''] }, none)).toEqual({})
    const cause: Facet = { kind: 'cause', value: '["rejected",404,null,""]', label: '404', rows: 1 }
    expect(toggleFacet({ errorCode: 'BAD' }, cause)).toEqual({ cause: cause.value })
    expect(listChosen({ cause: cause.value, ruleIds: [''] })).toEqual([
      { kind: 'rule', value: '' },
      { kind: 'cause', value: cause.value },
    ])
  })

  it("takes one of a person's verdicts, or having none", () => {
    const agree: Facet = { kind: 'verdict', value: 'agree', label: 'agree', rows: 2 }
    const none: Facet = { ...agree, value: 'none' }
    expect(toggleFacet({ ruleIds: ['r1'] }, agree)).toEqual({ ruleIds: ['r1'], verdict: 'agree' })
    expect(toggleFacet({ verdict: 'agree' }, none)).toEqual({ verdict: 'none' })
    expect(toggleFacet({ verdict: 'none' }, none)).toEqual({})
    expect(toggleFacet({}, { ...agree, value: 'nothing of the kind' })).toEqual({})
    expect(listChosen({ verdict: 'unsure' })).toEqual([{ kind: 'verdict', value: 'unsure' }])
  })

  it('takes several bands of a class, and shows the chosen ones even if no row has them', () => {
    const toBand = (from: number): Facet => {
      const value = JSON.stringify({ className: 'hate', from, below: from + 1 })
      return { kind: 'score', value, label: '', rows: 0 }
    }
    const both = toggleFacet(toggleFacet({ languages: ['EN'] }, toBand(1)), toBand(3))
    expect(both).toEqual({
      languages: ['EN'],
      scores: [
        { className: 'hate', from: 1, below: 2 },
        { className: 'hate', from: 3, below: 4 },
      ],
    })
    expect(listChosen(both)).toEqual([
      { kind: 'language', value: 'EN' },
      { kind: 'score', value: toBand(1).value },
      { kind: 'score', value: toBand(3).value },
    ])
    expect(toggleFacet(toggleFacet(both, toBand(1)), toBand(3))).toEqual({ languages: ['EN'] })
  })

  it('recognises a saved filter in any order of its choices', () => {
    expect(
      isSameFilter({ state: 'failed', ruleIds: ['a', 'b'] }, { ruleIds: ['b', 'a'], state: 'failed' }),
    ).toBe(true)
    expect(isSameFilter({ ruleIds: ['a'] }, { ruleIds: ['a', 'b'] })).toBe(false)
  })

  it('drops an empty search', () => {
    expect(withSearch({ search: 'x', state: 'failed' }, '')).toEqual({ state: 'failed' })
  })
})

describe('the columns of the table', () => {
  const usual = {
    operation: 'task',
    isAsync: false,
    names: ['id', 'text', 'id'],
    order: [1, 0, 2],
    hasScores: true,
    hasVerdicts: false,
  }

  it('show the content after the outcome, and each of several columns with the same name', () => {
    expect(toUsualColumns(usual).map(({ name }) => name)).toEqual([
      ...['sluice_row', 'sluice_state', 'sluice_triggered_rules', 'scores', 'source.text', 'sluice_status'],
      ...['sluice_duration_ms', 'sluice_attempts', 'source.id', 'source.id (2)'],
    ])
  })

  it('request the texts of a page that are neither drawn nor in the source, if the run has them', () => {
    const entry = { name: 'sluice_language', title: 'Language', group: 'row', hasContent: false } as const
    const shown = [
      'sluice_row',
      'scores',
      'source.id',
      'sluice_language',
      'rule.Gone',
      'answer.user_id',
      'score.hate',
    ]
    expect(
      listTextColumns(
        shown.map((name) => ({ name })),
        [entry],
      ),
    ).toEqual(['sluice_language', 'answer.user_id', 'score.hate'])
  })

  it("move by one position, or to another column's, and never out of the table", () => {
    const shown = ['a', 'b', 'c'].map((name) => ({ name }))
    const toNames = (columns: readonly { name: string }[]) => columns.map(({ name }) => name).join('')
    expect(toNames(move(shown, 'c', -1))).toBe('acb')
    expect(toNames(move(shown, 'a', -1))).toBe('abc')
    expect(toNames(moveTo(shown, 'a', 'c'))).toBe('bca')
    expect(toNames(moveTo(shown, 'c', 'a'))).toBe('cab')
  })

  it('sort by clicks: highest first, then lowest, then source order', () => {
    const by = { kind: 'latency' } as const
    const first = toNextSort(by, null)
    expect(first).toEqual({ by, order: 'descending' })
    const second = toNextSort(by, first)
    expect(second).toEqual({ by, order: 'ascending' })
    expect(toNextSort(by, second)).toBeNull()
  })
})

describe('pages of results', () => {
  const toRow = (row: number) => ({ row }) as PageRow

  function openPages(
    load?: (offset: number, signal: AbortSignal) => Promise<void>,
    meta?: Record<string, unknown>,
  ) {
    const asked: number[] = []
    const client = new QueryClient({ defaultOptions: { queries: { retry: false } } })
    const openAgain = () =>
      createResultPages(client, (offset) => ({
        queryKey: [offset],
        meta,
        queryFn: async ({ signal }) => {
          asked.push(offset)
          await load?.(offset, signal)
          return {
            rows: Array.from({ length: PAGE_ROWS }, (_, index) => toRow(offset + index + 1)),
            total: 1_000_000,
            isCounted: true,
          }
        },
      }))
    const pages = openAgain()
    let check = () => {}
    pages.subscribe(() => check())
    const arrival = () =>
      new Promise<void>((resolve) => {
        check = () => {
          if (pages.results().every(({ isSuccess, isFetching }) => isSuccess && !isFetching)) resolve()
        }
        check()
      })
    return { client, pages, asked, arrival, openAgain }
  }

  it('fetches a page once, and learns the total from it', async () => {
    const { pages, asked, arrival } = openPages()
    pages.want(0, 30)
    pages.want(0, 35)
    expect(pages.rowAt(7)).toBeNull()
    await arrival()
    pages.want(0, 40)
    expect(asked).toEqual([0])
    expect(pages.rowAt(7)?.row).toBe(8)
    expect(pages.total()).toMatchObject({ rows: 1_000_000, isCounted: true })
  })

  it('reads ahead while the view scrolls, but only what is in view after a jump', async () => {
    const { pages, asked, arrival } = openPages()
    pages.want(0, PAGE_ROWS - 10)
    await arrival()
    expect(asked).toEqual([0])
    pages.want(5, PAGE_ROWS - 5)
    await arrival()
    expect(asked).toEqual([0, PAGE_ROWS])
    expect(pages.rowAt(PAGE_ROWS)?.row).toBe(PAGE_ROWS + 1)
    pages.want(500_000, 500_030)
    await arrival()
    pages.want(999_960, 999_989)
    await arrival()
    pages.want(999_970, 999_999)
    await arrival()
    expect(asked).toEqual([0, PAGE_ROWS, 500_000, 999_950, 999_900])
  })

  it('immediately knows the pages that were read ahead, even if nothing arrives any more', async () => {
    const { pages, asked, arrival, openAgain } = openPages()
    pages.want(0, 30)
    await arrival()
    const shown = openAgain()
    shown.want(0, 30)
    shown.subscribe(() => {})
    expect(shown.total()).toMatchObject({ rows: 1_000_000 })
    expect(shown.rowAt(7)?.row).toBe(8)
    expect(shown.arrivals()).toBe(1)
    expect(asked).toEqual([0])
  })

  it('rereads pages filtered by verdict when the filter is applied again, those out of view once they come into it', async () => {
    const { client, pages, asked, arrival } = openPages(undefined, NARROWED_BY_VERDICT)
    for (const row of [0, PAGE_ROWS]) {
      pages.want(row, row)
      await arrival()
    }
    await readNarrowedAgain(client)
    expect(asked).toEqual([0, PAGE_ROWS, PAGE_ROWS])
    expect(pages.rowAt(0)).toBeNull()
    pages.want(0, 0)
    await arrival()
    expect(asked).toEqual([0, PAGE_ROWS, PAGE_ROWS, 0])
  })

  it('requests nothing after it has dropped its pages, and reads them anew on demand', async () => {
    const { pages, asked, arrival } = openPages()
    expect(pages.isWanted()).toBe(false)
    pages.want(5_000, 5_030)
    expect(pages.isWanted()).toBe(true)
    await arrival()
    pages.forget()
    expect(pages.isWanted()).toBe(false)
    pages.want(5_000, 5_030)
    await arrival()
    expect(asked).toEqual([5_000, 5_000])
    expect(pages.rowAt(5_000)?.row).toBe(5_001)
  })

  it('keeps a limited number of pages, the most recently used', async () => {
    const { pages, arrival } = openPages()
    for (let page = 0; page <= PAGES_KEPT; page += 1) {
      pages.want(page * PAGE_ROWS, page * PAGE_ROWS)
      await arrival()
    }
    expect(pages.rowAt(0)).toBeNull()
    expect(pages.rowAt(PAGE_ROWS)).not.toBeNull()
  })

  it('cancels pages that were scrolled past, without an error', async () => {
    const given: boolean[] = []
    const held = Promise.withResolvers<void>()
    const { pages, arrival } = openPages(async (offset, signal) => {
      if (offset !== 0) return
      await held.promise
      given.push(signal.aborted)
    })
    pages.want(0, 10)
    pages.want(500_000, 500_010)
    held.resolve()
    await arrival()
    expect(given).toEqual([true])
    expect(pages.rowAt(0)).toBeNull()
    expect(pages.rowAt(500_000)?.row).toBe(500_001)
    expect(pages.results().map(({ error }) => error)).toEqual([null])
  })

  it('rereads the pages in view on request, and shows the old rows until then', async () => {
    const { client, pages, asked, arrival } = openPages()
    pages.want(0, 10)
    await arrival()
    const refreshed = client.invalidateQueries()
    expect(pages.rowAt(0)?.row).toBe(1)
    await refreshed
    expect(asked).toEqual([0, 0])
  })
})

describe('the state of a row', () => {
  it('has the same name as everywhere else, even while it waits to be sent again', () => {
    expect(toStateLook({ state: 'pending', attempts: 0 }).word).toBe('not sent')
    expect(toStateLook({ state: 'pending', attempts: 1 }).word).toBe('to be repeated')
    for (const [state, { word }] of Object.entries(STATE_LOOKS)) {
      expect(word).toBe(describeState({ state: state as RowState, attempts: 0 }))
    }
  })

  it("shares no word with the service's answer about a term", () => {
    const words = Object.values(STATE_LOOKS).map(({ word }) => word)
    for (const { word } of Object.values(ROW_ANSWERS)) expect(words).not.toContain(word)
  })
})

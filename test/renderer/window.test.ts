import { describe, expect, it } from 'vitest'
import { toFurthestStep, useDraft } from '../../src/renderer/app/draft.ts'
import { toSteps } from '../../src/renderer/app/draft-screens.tsx'
import { parseRoute, type Route, toHash } from '../../src/renderer/app/route.ts'
import { findEnded } from '../../src/renderer/app/run-endings.tsx'
import { findCommands, toMovedChoice } from '../../src/renderer/app/shell/palette.tsx'
import { toTabs } from '../../src/renderer/app/shell/run-frame.tsx'
import { suggestFileName } from '../../src/renderer/bridge/save-export.ts'
import {
  type LatencySecond,
  scaleZoom,
  toChartSeconds,
  toRequestSeconds,
} from '../../src/renderer/ui/charts/time-chart.tsx'
import { toColumnRem, toMovedCursor } from '../../src/renderer/ui/grid/data-grid.tsx'
import { describeOptions } from '../../src/renderer/ui/operations/operation-looks.tsx'
import { isPressed, nameShortcut } from '../../src/renderer/ui/shortcuts.ts'
import type { BridgePreview, ChosenSource } from '../../src/shared/bridge/source.ts'
import { adviseInWindow } from '../../src/shared/messages/outcome-advice.ts'
import type { Operation } from '../../src/shared/operations/operations.ts'
import type { RunSnapshot } from '../../src/shared/run/snapshot.ts'

describe('the address of a screen', () => {
  it.each<Route>([
    { kind: 'runs' },
    { kind: 'lists', of: 'appeals' },
    { kind: 'draft', step: 'operation' },
    { kind: 'draft', step: 'mapping' },
    { kind: 'run', runId: '20260301-a' },
    { kind: 'results', runId: 'with/slash and %' },
    { kind: 'evaluate', runId: '20260301-a' },
    { kind: 'export', runId: '20260301-a' },
    { kind: 'trend', runId: '20260301-a' },
    { kind: 'plan', runId: '20260301-a' },
    { kind: 'compare', runIds: [] },
    { kind: 'compare', runIds: ['20260301-a', 'with/slash and %', '20260302-b'] },
  ])('is read back as it was written: %j', (route) => expect(parseRoute(toHash(route))).toEqual(route))

  it.each(['', '#/nowhere', '#/new/nothing', '#/run/', '#/run/x/nothing'])('leads home from %j', (hash) => {
    expect(parseRoute(hash)).toEqual({ kind: 'runs' })
  })

  it('survives a broken escape', () => {
    expect(parseRoute('#/run/%E0%A4%A')).toEqual({ kind: 'run', runId: '%E0%A4%A' })
  })
})

describe('the steps of a new run', () => {
  const source: ChosenSource = { sourceId: 's', name: 'posts.csv', sizeBytes: 1 }
  const preview = { columns: [], rows: [] } as unknown as BridgePreview
  const NOTHING = { source: null, preview: null, heldRunId: null }
  const listClosed = (draft: Parameters<typeof toSteps>[0]) =>
    toSteps(draft, 'operation').flatMap(({ label, closed }) => (closed === undefined ? [] : [label]))

  it('opens only operation and source at first', () => {
    expect(listClosed(NOTHING)).toEqual(['Mapping', 'Check', 'Review'])
  })

  it('opens each step once it has what it needs', () => {
    expect(listClosed({ ...NOTHING, source, preview })).toEqual(['Check', 'Review'])
    expect(listClosed({ source, preview, heldRunId: 'held' })).toEqual([])
  })

  it('marks completed steps as done', () => {
    const listDone = (step: 'mapping' | 'review') =>
      toSteps({ source, preview, heldRunId: 'held' }, step).flatMap(({ label, done }) =>
        done ? [label] : [],
      )
    expect(listDone('mapping')).toEqual(['Operation', 'Source'])
    expect(listDone('review')).toEqual(['Operation', 'Source', 'Mapping', 'Check'])
  })

  it.each([
    [NOTHING, 'operation'],
    [{ ...NOTHING, source }, 'source'],
    [{ ...NOTHING, source, preview }, 'mapping'],
    [{ source, preview, heldRunId: 'held' }, 'review'],
  ] as const)('continues where the draft was left', (draft, step) => {
    expect(toFurthestStep({ ...useDraft.getState(), ...draft })).toBe(step)
  })
})

describe('the tabs of a run', () => {
  const RUN = { runId: 'r', isLoad: false, hasRules: true, searchId: null }
  const listTabs = (run: typeof RUN | (Omit<typeof RUN, 'searchId'> & { searchId: string })) =>
    toTabs(run).map(({ label }) => label)

  it('lead to every screen that it has', () => {
    expect(listTabs(RUN)).toEqual([
      'Overview',
      'Results',
      'Labelling',
      'Evaluate',
      'Export',
      'Trend',
      'SQL',
      'Plan',
    ])
  })

  it('leave out impossible screens: rules of other operations, rows of load tests', () => {
    expect(listTabs({ ...RUN, hasRules: false })).toEqual([
      'Overview',
      'Results',
      'Export',
      'Trend',
      'SQL',
      'Plan',
    ])
    expect(listTabs({ ...RUN, isLoad: true })).toEqual(['Overview', 'Export', 'Trend', 'Plan'])
  })

  it('lead back to the capacity search of a probe', () => {
    expect(listTabs({ ...RUN, isLoad: true, searchId: 's' })[0]).toBe('Capacity search')
  })
})

describe('the command palette', () => {
  const toCommand = (label: string) => ({ group: 'Places', label, run: () => {} })
  const commands = ['Runs', 'New run', 'Compare'].map(toCommand)

  it.each([
    ['run', ['Runs', 'New run']],
    ['run new', ['New run']],
    ['un', []],
    ['', ['Runs', 'New run', 'Compare']],
  ])('finds for %j the entries in which a word begins with each typed one', (typed, labels) => {
    expect(findCommands(commands, typed).map(({ label }) => label)).toEqual(labels)
  })

  it.each([
    ['ArrowDown', 2, 0],
    ['ArrowUp', 0, 2],
    ['ArrowUp', 2, 1],
    ['Tab', 0, null],
  ])('goes with %s from %i to %s', (key, from, to) => expect(toMovedChoice(key, from, 3)).toBe(to))
})

describe('runs that end', () => {
  const toPicture = (runId: string, phase: RunSnapshot['phase']) => ({ runId, phase }) as RunSnapshot

  it('are those that were being sent and are over or gone', () => {
    const before = [
      toPicture('ended', 'running'),
      toPicture('gone', 'awaiting'),
      toPicture('paused', 'running'),
      toPicture('dropped', 'ready'),
    ]
    expect(findEnded(before, [toPicture('ended', 'ended'), toPicture('paused', 'paused')])).toEqual([
      'ended',
      'gone',
    ])
  })
})

describe('the cursor of a table', () => {
  const place = { cursor: 5, count: 8, page: 20 }
  it.each([
    ['j', 6],
    ['K', 4],
    ['ArrowDown', 6],
    ['PageDown', 7],
    ['PageUp', 0],
    ['Home', 0],
    ['End', 7],
    ['x', null],
  ])('goes with %s to %s', (key, moved) => expect(toMovedCursor(key, place)).toBe(moved))

  it('does not move in an empty table', () => {
    expect(toMovedCursor('j', { cursor: 0, count: 0, page: 5 })).toBeNull()
  })
})

describe('a chart of a long run', () => {
  const toSecond = (second: number, p99: number): LatencySecond => ({
    second,
    percentiles: { count: 1, min: 1, mean: 1, p50: 1, p90: 1, p95: 1, p99, p99_9: p99, max: p99 },
  })
  const toPlaces = (seconds: readonly LatencySecond[]) =>
    toChartSeconds(seconds).points.map(({ second, at, percentiles }) => [
      second,
      at,
      percentiles?.p99 ?? null,
    ])

  it('keeps every spike when it drops points', () => {
    const hour = Array.from({ length: 3_600 }, (_, second) => toSecond(second, second === 1_801 ? 900 : 5))
    const { points } = toChartSeconds(hour)
    expect(points.length).toBeLessThanOrEqual(1_200)
    expect(points.some(({ second }) => second === 1_801)).toBe(true)
  })

  it('breaks the line where nothing was sent for a moment', () => {
    expect(toPlaces([toSecond(0, 1), toSecond(1, 2), toSecond(5, 3)])).toEqual([
      [0, 0, 1],
      [1, 1, 2],
      [2, 1.5, null],
      [5, 5, 3],
    ])
  })

  it('gives a pause no width, and says how long it was', () => {
    const seconds = [toSecond(0, 1), toSecond(1, 2), toSecond(3_602, 3), toSecond(3_603, 4)]
    expect(toPlaces(seconds)).toEqual([
      [0, 0, 1],
      [1, 1, 2],
      [2, 1.5, null],
      [3_602, 2, 3],
      [3_603, 3, 4],
    ])
    expect(toChartSeconds(seconds).pauses).toEqual([{ at: 2, lengthS: 3_600 }])
  })

  it('shows average requests for a stretch that is too long for single seconds', () => {
    const hours = Array.from({ length: 2_400 }, (_, second) => ({
      second,
      scheduled: null,
      succeeded: 5,
      unsuccessful: 0,
      sent: second % 2 === 0 ? 4 : 6,
    }))
    const { points } = toRequestSeconds(hours)
    expect(points).toHaveLength(1_200)
    expect(new Set(points.map(({ sent }) => sent))).toEqual(new Set([5]))
    expect(points[0]?.scheduled).toBeNull()
  })

  it('leaves a short run unchanged', () => {
    const minute = Array.from({ length: 60 }, (_, second) => toSecond(second, 1))
    expect(toChartSeconds(minute)).toEqual({
      points: minute.map((second) => ({ ...second, at: second.second })),
      pauses: [],
    })
  })
})

describe('the zoom of a chart over time', () => {
  const at = Array.from({ length: 101 }, (_, second) => second)

  it('stays around the point and within the run', () => {
    expect(scaleZoom(null, at, 50, 0.5)).toEqual([25, 75])
    expect(scaleZoom([25, 75], at, 50, 0.5)).toEqual([37.5, 62.5])
    expect(scaleZoom(null, at, 100, 0.5)).toEqual([50, 100])
    expect(scaleZoom([0, 10], at, 0, 0.5)).toEqual([0, 5])
    expect(scaleZoom([0, 5], at, 0, 0.5)).toEqual([0, 5])
  })

  it('ends where everything is shown', () => {
    expect(scaleZoom([25, 75], at, 50, 2)).toBeNull()
    expect(scaleZoom(null, [], 0, 0.5)).toBeNull()
  })
})

describe('a column of the preview', () => {
  it('is as wide as most of its cells, within bounds', () => {
    expect(toColumnRem('id', [1, 2, 1])).toBe(5)
    expect(toColumnRem('text', Array(100).fill(5_000))).toBe(28)
    expect(toColumnRem('text', [...Array(95).fill(20), 5_000])).toBeLessThan(12)
  })
})

describe('what to do about an error', () => {
  const advise = (
    status: number | null,
    error_code: string | null,
    outcome: 'rejected' | 'unknown' | 'invalid' = 'rejected',
    operation = 'task',
  ) => adviseInWindow({ status, error_code, outcome }, operation)

  it('is decided by the code first, then the status, then the outcome', () => {
    expect(advise(403, 'INVALID_API_KEY')).toContain('Check the API key')
    expect(advise(400, 'POST_ALREADY_EXISTS')).toContain('delivered before')
    expect(advise(429, null)).toContain('Lower the concurrency')
    expect(advise(503, 'ANYTHING')).toContain('The service failed')
    expect(advise(null, null, 'unknown')).toContain('may have accepted')
  })

  it('does not suggest opening the row that is open', () => {
    const rejected = { status: 400, outcome: 'rejected' } as const
    for (const error_code of ['INVALID_PARAM', 'PARAM_REQUIRED', null]) {
      expect(adviseInWindow({ ...rejected, error_code }, 'task', 'row')).not.toMatch(/[Oo]pen a row|a row’s/)
    }
    expect(adviseInWindow({ ...rejected, error_code: 'INVALID_PARAM' }, 'task')).toContain('Open a row')
  })

  it('warns that index adds of unknown outcome may be added twice, whatever the status', () => {
    for (const status of [502, 503, null]) {
      const advice = advise(status, null, 'unknown', 'index-add')
      expect(advice).toContain('may add them twice')
      expect(advice).not.toContain('Wait a little, then retry')
    }
  })

  it("repeats the check's advice for invalid rows", () => {
    expect(advise(null, 'forbidden_character', 'invalid')).toContain('does not accept "_" or ";"')
  })
})

describe('an operation in a few words', () => {
  it.each<[Operation, string]>([
    [{ kind: 'task', mode: 'sync', api: 'v1', legacy: true, models: ['ocr'] }, 'v1 sync, ocr, legacy answer'],
    [{ kind: 'task', mode: 'async', api: 'v2', legacy: false, models: ['a', 'b'] }, 'v2 async, 2 models'],
    [{ kind: 'index-add', mode: 'async', indexId: 'faces' }, 'faces, async'],
    [
      { kind: 'watchlist-add', watchlist: '', termsPerRequest: 500 },
      'no watchlist yet, 500 terms per request',
    ],
    [{ kind: 'appeal-status' }, 'only reads'],
  ])('%j is: %s', (operation, words) => expect(describeOptions(operation)).toBe(words))
})

describe('the name of an exported file', () => {
  it.each([
    ['posts.csv', 'posts-results.csv'],
    ['a/b\\c:d*e?"<>|.tsv', 'a-b-c-d-e-results.csv'],
    ['...', 'run-results.csv'],
    ['\u202Etxt.exe', 'txt-results.csv'],
  ])('makes %j into %s', (name, file) => expect(suggestFileName(name, 'csv')).toBe(file))
})

describe('a shortcut', () => {
  const none = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false }

  it('works under Caps Lock without taking it for Shift', () => {
    const undo = { key: 'z', mod: true }
    expect(isPressed({ ...none, key: 'Z', ctrlKey: true }, undo, false)).toBe(true)
    expect(isPressed({ ...none, key: 'Z', ctrlKey: true }, { ...undo, shift: true }, false)).toBe(false)
    expect(isPressed({ ...none, key: 'z', ctrlKey: true, shiftKey: true }, undo, false)).toBe(false)
    expect(isPressed({ ...none, key: '/', shiftKey: true }, { key: '/' }, false)).toBe(true)
  })

  it('is on ⌘ on a Mac, where Ctrl edits text, and on Ctrl elsewhere', () => {
    const search = { key: 'k', mod: true }
    expect(isPressed({ ...none, key: 'k', metaKey: true }, search, true)).toBe(true)
    expect(isPressed({ ...none, key: 'k', ctrlKey: true }, search, true)).toBe(false)
    expect(isPressed({ ...none, key: 'k', metaKey: true }, search, false)).toBe(false)
    expect(isPressed({ ...none, key: 'k', ctrlKey: true }, search, false)).toBe(true)
  })

  it('is shown as the system writes it', () => {
    expect(nameShortcut(['Mod', 'Shift', 'Z'], false)).toBe('Ctrl+Shift+Z')
    expect(nameShortcut(['Mod', 'Shift', 'Z'], true)).toBe('⌘⇧Z')
  })
})

import { toRowCounts } from '../../../src/shared/run/counts.ts'
import { listRows } from './row-groups.ts'
import type { MemberHistory, RunHistory } from './run-history.ts'
import { sayRow } from './say-fault.ts'
import type { Fault } from './verdict.ts'

/** Checks a run's counts: counters against tables, seconds against tries, the summary against the rows. */
export function judgeCounts(run: RunHistory): Fault[] {
  const faults = run.members.flatMap((member) => [
    ...compareCounters(member),
    ...(member.isCutOff ? [] : compareTries(member, run.operation.startsWith('watchlist'))),
    // The last seconds of a process that died are counted when its run is resumed.
    ...(member.isCutOff || member.state === 'interrupted' ? [] : compareSeconds(member)),
  ])
  return [...faults, ...compareSummary(run)]
}

const toFault = (runId: string, message: string): Fault => ({
  kind: 'counts',
  runId,
  row: null,
  id: null,
  message,
})

function compareCounters({ runId, counters, tables }: MemberHistory): Fault[] {
  return COUNTED.flatMap((kind) => {
    const counted = counters.get(kind) ?? new Map<string, number>()
    const held = tables.get(kind) ?? new Map<string, number>()
    const values = new Set(
      [...counted.keys(), ...held.keys()].filter((value) => !APART.has(`${kind} ${value}`)),
    )
    return [...values].flatMap((value) => {
      const [told, found] = [counted.get(value) ?? 0, held.get(value) ?? 0]
      if (told === found) return []
      return [toFault(runId, `Run ${runId} counts ${told} for ${kind} ${value}, its journal has ${found}.`)]
    })
  })
}

const COUNTED = ['state', 'answer', 'request', 'rule', 'callback']

/** Counts without a table: rows put back into the queue, and callbacks by their time of arrival. */
const APART: ReadonlySet<string> = new Set(['callback early', 'callback late'])

/** `splits`: an item may be split, and its parts have no tries until they are sent. */
function compareTries({ runId, rows, items }: MemberHistory, splits: boolean): Fault[] {
  return rows.flatMap(({ row, id, item, stored, attempts }) => {
    const tries = item === null ? [] : (items.get(item)?.attempts ?? [])
    // A retry may have sent only other rows of the item.
    const last = splits ? (tries.findLast(({ number }) => number <= attempts) ?? tries.at(-1)) : tries.at(-1)
    if (splits && last === undefined) return []
    if (item === null || stored === null || attempts === (last?.number ?? 0)) return []
    const message = `${sayRow({ row, id })} was tried ${attempts} times, and the journal has ${last?.number ?? 0} tries.`
    return [{ kind: 'counts', runId, row, id, message }]
  })
}

function compareSeconds({ runId, seconds, tables }: MemberHistory): Fault[] {
  const tries = tables.get('request sent') ?? new Map<string, number>()
  const sum = [...tries.values()].reduce((total, n) => total + n, 0)
  const found = { ...Object.fromEntries(tries), sent: sum } as Record<string, number>
  return Object.entries(seconds).flatMap(([outcome, n]) => {
    const tried = found[outcome] ?? 0
    if (n === tried) return []
    return [
      toFault(
        runId,
        `Run ${runId} has ${n} ${outcome} in its seconds, its journal has ${tried} such requests.`,
      ),
    ]
  })
}

function compareSummary(run: RunHistory): Fault[] {
  const { runId, told, members } = run
  const rows = listRows(run)
  const states = new Map<string, number>()
  for (const { row } of rows) states.set(row.state, (states.get(row.state) ?? 0) + 1)
  // Missing rows are reported separately.
  const missing = members.reduce((sum, { rowsRead, rows: held }) => sum + rowsRead - held.length, 0)
  const counted = toRowCounts(states, rows.length + missing)
  const names = new Set([...Object.keys(counted), ...Object.keys(told.rows)])
  const faults = [...names].flatMap((name) => {
    const [said, found] = [told.rows, counted].map(
      (counts) => (counts as Partial<Record<string, number>>)[name] ?? 0,
    )
    if (said === found) return []
    return [toFault(runId, `The summary of run ${runId} says ${said} for ${name}, its rows are ${found}.`)]
  })
  const sent = members.reduce((total, { items, rows: held }) => {
    const tries = [...items.values()].reduce((sum, { attempts }) => sum + attempts.length, 0)
    // What a dead process had in flight has no tries until its run is resumed.
    const inFlight = held.filter(({ state, stored }) => state === 'unknown' && stored !== 'unknown')
    return total + tries + new Set(inFlight.map(({ item }) => item)).size
  }, 0)
  if (sent !== told.requestsSent) {
    faults.push(
      toFault(
        runId,
        `The summary of run ${runId} says ${told.requestsSent} requests, its journals have ${sent}.`,
      ),
    )
  }
  return faults
}

import { existsSync } from 'node:fs'
import { type SourcePlace, toRowNumber } from '../../../shared/plan/source-place.ts'
import {
  type CallbackEffect,
  type CallbackOverview,
  callbackEffectSchema,
  type StoredCallback,
} from '../../../shared/run/callback-overview.ts'
import { toCallbackCounts } from '../../../shared/run/counts.ts'
import type { CallbackCounts } from '../../../shared/run/run.ts'
import { openJournalReader } from '../journal/journal.ts'
import { type InboxItem, InboxReader } from '../receiver/inbox.ts'
import { createPlaceReader } from '../run/journal/intake-writer.ts'
import { toJournalFile } from '../workspace/workspace-files.ts'
import type { CallbackRun } from './catalogue/listed-runs.ts'

const LISTED = 200

/**
 * Callbacks received in a workspace and what the runs did with them. `listRuns` gives the runs that await
 * callbacks or have processed some, and those of the tokens.
 */
export async function readCallbackOverview(
  workspace: string,
  listRuns: (tokens: readonly string[]) => Promise<CallbackRun[]>,
): Promise<CallbackOverview> {
  const inbox = new InboxReader(workspace)
  try {
    const items = inbox.readNewest(LISTED)
    const runs = await listRuns([...new Set(items.map(({ runToken }) => runToken))])
    const { received, refused, probes = 0 } = inbox.readCounts()
    return {
      baseUrl: inbox.readAddress()?.baseUrl ?? null,
      received,
      refused,
      probes,
      lastRefused: inbox.readLastRefused(),
      counts: addCounts(runs),
      awaiting: listAwaiting(runs),
      newest: describeItems(workspace, items, runs),
    }
  } finally {
    inbox.close()
  }
}

/** The body of a callback in the inbox as text; null if it is gone. */
export function readCallbackBody(workspace: string, id: number): string | null {
  const inbox = new InboxReader(workspace)
  try {
    return inbox.readBody(id)
  } finally {
    inbox.close()
  }
}

/** A run and its retries have one summary, which counts the callbacks of all of them. */
function listWholes(runs: readonly CallbackRun[]): CallbackRun[] {
  return [...new Map(runs.map((run) => [run.first, run])).values()]
}

function addCounts(runs: readonly CallbackRun[]): CallbackCounts {
  const sum = toCallbackCounts(new Map(), new Map())
  for (const { counts } of listWholes(runs)) {
    if (counts === null) continue
    for (const kind of Object.keys(counts) as (keyof CallbackCounts)[])
      sum[kind] = (sum[kind] ?? 0) + (counts[kind] ?? 0)
  }
  return sum
}

function listAwaiting(runs: readonly CallbackRun[]): CallbackOverview['awaiting'] {
  return listWholes(runs)
    .flatMap(({ first, name, awaiting }) => {
      const overdue = runs.filter((run) => run.first === first && run.overdueAtMs !== null)
      if (awaiting === 0 || overdue.length === 0) return []
      return {
        runId: first,
        name,
        rows: awaiting,
        firstOverdueAtMs: Math.min(...overdue.map((run) => run.overdueAtMs ?? 0)),
        lastOverdueAtMs: Math.max(...overdue.map((run) => run.lastOverdueAtMs ?? 0)),
      }
    })
    .toSorted((a, b) => a.firstOverdueAtMs - b.firstOverdueAtMs)
}

function describeItems(
  workspace: string,
  items: readonly InboxItem[],
  runs: readonly CallbackRun[],
): StoredCallback[] {
  const byToken = Map.groupBy(runs, (run) => run.runToken)
  const known = new Map<number, KnownCallback>()
  for (const [token, ofToken] of Map.groupBy(items, (item) => item.runToken)) {
    for (const run of byToken.get(token) ?? []) {
      for (const [id, { effect, place }] of readKnown(toJournalFile(workspace, run.id), ofToken)) {
        const before = known.get(id)
        // The items of a load test are requests.
        known.set(id, {
          effect: effect ?? before?.effect,
          place: run.inboxRead === null ? null : (place ?? before?.place ?? null),
        })
      }
    }
  }
  return items.map(({ id, item, runToken, receivedAtUs, sizeBytes }) => {
    const ofToken = byToken.get(runToken) ?? []
    const run = ofToken.find(({ id: runId, first }) => runId === first) ?? ofToken[0]
    const place = known.get(id)?.place ?? null
    return {
      id,
      receivedAtMs: receivedAtUs / 1_000,
      sizeBytes,
      effect: known.get(id)?.effect ?? findEffect(id, ofToken),
      run: run === undefined ? null : { runId: run.first, name: run.name },
      row: place === null ? null : toRowNumber(place),
      ...(place?.file !== undefined && { file: place.file }),
      record: item,
    }
  })
}

/** What a callback did that is in no journal. */
function findEffect(id: number, runs: readonly CallbackRun[]): CallbackEffect {
  if (runs.some(({ inboxRead }) => inboxRead === null)) return 'measured'
  return runs.every(({ inboxRead }) => (inboxRead ?? 0) >= id) ? 'unmatched' : 'waiting'
}

/** What a journal says about a callback and its row. */
interface KnownCallback {
  effect: CallbackEffect | undefined
  place: SourcePlace | null
}

/** What a journal says about callbacks; empty if it cannot be read at present. */
function readKnown(file: string, items: readonly InboxItem[]): [id: number, known: KnownCallback][] {
  if (!existsSync(file)) return []
  try {
    const db = openJournalReader(file)
    try {
      const read = db.prepare('SELECT effect FROM callback WHERE id = ?')
      const hasRow = db.prepare('SELECT 1 FROM row WHERE id = ?')
      const toPlace = createPlaceReader(db)
      return items.map(({ id, item }) => [
        id,
        {
          effect: callbackEffectSchema.safeParse(read.get(id)?.['effect']).data,
          place: hasRow.get(item) === undefined ? null : toPlace(item),
        },
      ])
    } finally {
      db.close()
    }
  } catch {
    return []
  }
}

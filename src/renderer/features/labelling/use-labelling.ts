import { useQuery } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import type { Labelling, LabellingChange } from '../../../shared/lookback/labelling.ts'
import { createChangeQueue } from '../../bridge/change-queue.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'
import type { Verdicts } from '../../bridge/verdicts.ts'

/** A sample in progress, with functions to move through it. */
export type LabellingState = ReturnType<typeof useLabelling>

/** Positions are stored one after another, in the order they were reached. */
const changes = createChangeQueue()

/** The sample of a run that is being labelled. The workspace stores each step at once. */
export function useLabelling(runId: string, verdicts: Verdicts) {
  const { queryKey } = ask.labelling.read.queryOptions({ input: { runId } })
  const found = useQuery({
    queryKey,
    queryFn: ({ signal }) => changes.read(() => bridge.labelling.read({ runId }, { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const [failure, setFailure] = useState<unknown>(null)
  const labelling = found.data ?? null
  const { of, isRead } = verdicts
  const show = useCallback((drawn: Labelling) => queryClient.setQueryData(queryKey, drawn), [queryKey])

  const change = (next: Omit<LabellingChange, 'started_at'>) => {
    if (labelling === null) return
    const { started_at } = labelling
    show({ ...labelling, ...next })
    const store = () => bridge.labelling.change({ runId, change: { ...next, started_at } })
    void changes.add(async () => {
      try {
        // Once more, so that a lost connection does not show the row before to the next key.
        await store().catch(store)
        setFailure(null)
      } catch (error) {
        setFailure(error)
        // Another window may have drawn other rows.
        void queryClient.invalidateQueries({ queryKey })
      }
    })
  }
  const skipped = useMemo(() => new Set(labelling?.skipped), [labelling?.skipped])
  const rows = labelling?.rows ?? []
  /** The first position at or after `from` whose row is neither labelled nor skipped; the end if none is. */
  const findOpen = (from: number, passed: ReadonlySet<number>, justLabelled: number | null) => {
    const isOpen = ([row]: Labelling['rows'][number]) =>
      row !== justLabelled && !passed.has(row) && of(row).length === 0
    const after = rows.findIndex((drawn, place) => place >= from && isOpen(drawn))
    if (after !== -1) return after
    const before = rows.findIndex(isOpen)
    return before === -1 ? rows.length : before
  }
  const dismiss = () => {
    verdicts.dismiss?.()
    setFailure(null)
  }
  return {
    runId,
    /** The sample and the person's progress; null if none was drawn, or verdicts are not loaded yet. */
    stored: isRead ? labelling : null,
    isRead: found.isSuccess && isRead,
    error: found.error ?? verdicts.error ?? failure,
    /** Forgets why the last change was not stored; undefined while something cannot be read. */
    dismiss: found.error === null && verdicts.dismiss !== undefined ? dismiss : undefined,
    show,
    /** Rows of the sample with a verdict, and skipped rows. */
    labelled: rows.filter(([row]) => of(row).length > 0).length,
    skipped: rows.filter(([row]) => skipped.has(row) && of(row).length === 0).length,
    change,
    /** Whether a row is the current one, even before the screen is drawn again. */
    isAt: (row: number) => {
      const now = queryClient.getQueryData(queryKey)
      return now?.rows[now.at]?.[0] === row
    },
    goTo: (at: number) => change({ at: Math.min(Math.max(0, at), rows.length) }),
    /** Moves from a row that was just labelled to the next open one. */
    goOn: (row: number) => {
      const rest = new Set([...skipped].filter((one) => one !== row))
      change({ at: findOpen((labelling?.at ?? 0) + 1, rest, row), skipped: [...rest] })
    },
    /** Skips a row; if it has a verdict, it keeps that. */
    skip: (row: number) => {
      const passed = of(row).length > 0 ? skipped : new Set([...skipped, row])
      change({ at: findOpen((labelling?.at ?? 0) + 1, passed, null), skipped: [...passed] })
    },
    /** Goes through the skipped rows. */
    takeUpSkipped: () => change({ at: findOpen(0, new Set(), null), skipped: [] }),
    /** The position of a row in the sample; null if it is not part of it. */
    findPlace: (row: number) => {
      const place = rows.findIndex(([number]) => number === row)
      return place === -1 ? null : place
    },
  }
}

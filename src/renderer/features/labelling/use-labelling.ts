import { useQuery } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import type { Labelling, LabellingChange } from '../../../shared/lookback/labelling.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'
import type { Verdicts } from '../../bridge/verdicts.ts'

/** A sample that is being labelled, and the ways through it. */
export type LabellingState = ReturnType<typeof useLabelling>

/** Positions are stored one after the other, in the order they were reached. */
let stored: Promise<void> = Promise.resolve()

/** The sample of a run that is labelled, kept in the workspace: each step is stored as it is made. */
export function useLabelling(runId: string, verdicts: Verdicts) {
  const { queryKey, ...query } = ask.labelling.read.queryOptions({
    input: { runId },
    staleTime: Number.POSITIVE_INFINITY,
  })
  const found = useQuery({ queryKey, ...query })
  const [failure, setFailure] = useState<unknown>(null)
  const labelling = found.data ?? null
  const { of, isRead } = verdicts
  const show = useCallback((drawn: Labelling) => queryClient.setQueryData(queryKey, drawn), [queryKey])

  const change = (next: Omit<LabellingChange, 'started_at'>) => {
    if (labelling === null) return
    const { started_at } = labelling
    show({ ...labelling, ...next })
    stored = stored.then(() =>
      bridge.labelling.change({ runId, change: { ...next, started_at } }).then(
        () => setFailure(null),
        (error: unknown) => {
          setFailure(error)
          // Other rows may have been drawn elsewhere.
          void queryClient.invalidateQueries({ queryKey })
        },
      ),
    )
  }
  const skipped = useMemo(() => new Set(labelling?.skipped), [labelling?.skipped])
  const rows = labelling?.rows ?? []
  /** The first place from `from` on whose row is neither labelled nor skipped; the end if there is none. */
  const findOpen = (from: number, passed: ReadonlySet<number>, justLabelled: number | null) => {
    const isOpen = ([row]: Labelling['rows'][number]) =>
      row !== justLabelled && !passed.has(row) && of(row).length === 0
    const after = rows.findIndex((drawn, place) => place >= from && isOpen(drawn))
    if (after !== -1) return after
    const before = rows.findIndex(isOpen)
    return before === -1 ? rows.length : before
  }
  return {
    runId,
    /** The sample and how far a person has come; null if none was drawn, or verdicts are not read yet. */
    stored: isRead ? labelling : null,
    isRead: found.isSuccess && isRead,
    error: found.error ?? verdicts.error ?? failure,
    show,
    /** Rows of the sample with a verdict, and rows that were passed over. */
    labelled: rows.filter(([row]) => of(row).length > 0).length,
    skipped: rows.filter(([row]) => skipped.has(row) && of(row).length === 0).length,
    change,
    /** Whether a row is the one to be labelled now, also before the screen is drawn again. */
    isAt: (row: number) => {
      const now = queryClient.getQueryData(queryKey)
      return now?.rows[now.at]?.[0] === row
    },
    goTo: (at: number) => change({ at: Math.min(Math.max(0, at), rows.length) }),
    /** Goes on from a row that was just labelled to the next that is open. */
    goOn: (row: number) => {
      const rest = new Set([...skipped].filter((one) => one !== row))
      change({ at: findOpen((labelling?.at ?? 0) + 1, rest, row), skipped: [...rest] })
    },
    /** Passes over a row; one that has a verdict keeps it. */
    skip: (row: number) => {
      const passed = of(row).length > 0 ? skipped : new Set([...skipped, row])
      change({ at: findOpen((labelling?.at ?? 0) + 1, passed, null), skipped: [...passed] })
    },
    /** Goes through the rows that were passed over. */
    takeUpSkipped: () => change({ at: findOpen(0, new Set(), null), skipped: [] }),
    /** The place of a row in the sample; null if it is not part of it. */
    findPlace: (row: number) => {
      const place = rows.findIndex(([number]) => number === row)
      return place === -1 ? null : place
    },
  }
}

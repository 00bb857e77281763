import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import type { PageRow } from '../../../shared/bridge/results.ts'
import type { ResultPages } from './result-pages.ts'

/** A person's position in a list of rows that changes meanwhile. */
export interface ListCursor {
  index: number
  /** The row that the cursor follows, as last read; null until the row at the index is read. */
  row: PageRow | null
  /**
   * `on`: the list has the row at the index. `waiting`: the page of the index is loading. `off`: the row has
   * left the list, or is outside the pages in view.
   */
  kind: 'on' | 'waiting' | 'off'
}

const START: ListCursor = { index: 0, row: null, kind: 'waiting' }

type Pages = Pick<ResultPages, 'rowAt' | 'findIndex' | 'isRead' | 'total'>

/** The cursor among the current pages: at the position of its row. The same object if nothing changed. */
export function followRow(pages: Pages, at: ListCursor): ListCursor {
  const next = toFollowed(pages, at)
  return next.index === at.index && next.row === at.row && next.kind === at.kind ? at : next
}

function toFollowed(pages: Pages, { index, row }: Pick<ListCursor, 'index' | 'row'>): ListCursor {
  const there = pages.rowAt(index)
  if (there !== null && (row === null || there.row === row.row)) return { index, row: there, kind: 'on' }
  if (row === null) {
    const total = pages.total()
    const isBehind = total?.isCounted === true && total.rows > 0 && index >= total.rows
    return isBehind ? toFollowed(pages, { ...START, index: total.rows - 1 }) : { index, row, kind: 'waiting' }
  }
  const found = pages.findIndex(row.row)
  if (found !== null) return { index: found, row: pages.rowAt(found) ?? row, kind: 'on' }
  return { index, row, kind: pages.isRead(index) ? 'off' : 'waiting' }
}

/**
 * The cursor a row further or back. If its row has left the list, it moves to the one that took its place, or
 * to the one before.
 */
export function stepFrom(at: ListCursor, by: 1 | -1, lastRow: number): ListCursor {
  const next = at.kind === 'off' && by === 1 ? at.index : at.index + by
  return moveTo(at, Math.min(Math.max(0, next), lastRow))
}

function moveTo(at: ListCursor, index: number): ListCursor {
  return index === at.index && at.kind !== 'off' ? at : { index, row: null, kind: 'waiting' }
}

/**
 * The cursor after these rows will have left the list: on the next remaining row, or else the one before; on
 * the first row if none of them is loaded.
 */
export function leaveRows(pages: Pages, at: ListCursor, left: ReadonlySet<number>): ListCursor {
  if (at.row === null || !left.has(at.row.row)) return at
  for (const by of [1, -1]) {
    for (let index = at.index; ; index += by) {
      const row = pages.rowAt(index)
      if (row === null) break
      if (!left.has(row.row)) return { index, row, kind: 'on' }
    }
  }
  return START
}

/**
 * The cursor of a list. It follows its row when others come in before it, and starts again with another
 * `order`. `findOffset` finds a row outside the pages in view.
 */
export function useListCursor(
  pages: ResultPages,
  order: unknown,
  findOffset: (row: number, signal: AbortSignal) => Promise<number | null>,
) {
  const [stored, store] = useState({ order, at: START })
  const at = stored.order === order ? stored.at : START
  const setAt = useCallback(
    (change: (at: ListCursor) => ListCursor) => store((old) => ({ ...old, at: change(old.at) })),
    [],
  )
  const follow = useMemo(() => {
    let followed = at
    return () => {
      followed = followRow(pages, followed)
      return followed
    }
  }, [pages, at])
  const cursor = useSyncExternalStore(pages.subscribe, follow)
  // The next key or change of the list starts from the drawn state.
  if (stored.order !== order || stored.at !== cursor) store({ order, at: cursor })

  const lost = cursor.kind === 'off' ? (cursor.row?.row ?? null) : null
  useEffect(() => {
    if (lost === null) return
    const controller = new AbortController()
    const { signal } = controller
    let arrivals: number | null = null
    let isAsking = false
    // Asked again whenever the list was read again: the row may be back.
    const askOnce = async () => {
      if (isAsking || arrivals === pages.arrivals()) return
      arrivals = pages.arrivals()
      isAsking = true
      const index = await findOffset(lost, signal).catch(() => null)
      isAsking = false
      if (signal.aborted) return
      if (index !== null) setAt((now) => (now.row?.row === lost ? { ...now, index } : now))
      // The list may have been read again meanwhile, for the last time.
      void askOnce()
    }
    const stop = pages.subscribe(() => void askOnce())
    void askOnce()
    return () => {
      stop()
      controller.abort()
    }
  }, [lost, pages, findOffset, setAt])

  const moves = useMemo(
    () => ({
      setCursor: (index: number) => setAt((now) => moveTo(now, index)),
      putOn: (index: number, row: PageRow | null) =>
        setAt((now) => (row === null ? moveTo(now, index) : { index, row, kind: 'on' })),
      step: (by: 1 | -1, lastRow: number) => setAt((now) => stepFrom(now, by, lastRow)),
    }),
    [setAt],
  )
  return {
    ...moves,
    cursor,
    /** Call before these rows leave the list. */
    leave: (left: readonly number[]) => setAt((now) => leaveRows(pages, now, new Set(left))),
  }
}

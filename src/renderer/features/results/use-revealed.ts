import { useCallback, useMemo, useState } from 'react'

/** Which rows show their content. */
export interface Revealed {
  all: boolean
  isRevealed: (row: number) => boolean
  toggle: (row: number) => void
  setAll: (all: boolean) => void
}

/** Nothing is revealed until the person does it, row by row or all at once, and nothing of it is remembered. */
export function useRevealed(): Revealed {
  const [all, setEvery] = useState(false)
  const [rows, setRows] = useState<ReadonlySet<number>>(new Set())
  // While all is shown, the set holds the rows that are hidden again.
  const isRevealed = useCallback((row: number) => rows.has(row) !== all, [rows, all])
  const toggle = useCallback((row: number) => {
    setRows((old) => {
      const next = new Set(old)
      if (!next.delete(row)) next.add(row)
      return next
    })
  }, [])
  const setAll = useCallback((every: boolean) => {
    setEvery(every)
    setRows(new Set())
  }, [])
  return useMemo(() => ({ all, isRevealed, toggle, setAll }), [all, isRevealed, toggle, setAll])
}

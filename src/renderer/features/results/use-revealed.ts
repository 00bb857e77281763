import { useCallback, useEffect, useMemo, useState } from 'react'
import { useContentShown } from '../../ui/content/masked-text.tsx'

/** Which rows show their content. */
export interface Revealed {
  isRevealed: (row: number) => boolean
  toggle: (row: number) => void
}

/** Nothing is revealed until the person does it, row by row or all at once, and nothing of it is remembered. */
export function useRevealed(): Revealed {
  const all = useContentShown((content) => content.shown)
  const [rows, setRows] = useState<ReadonlySet<number>>(new Set())
  // biome-ignore lint/correctness/useExhaustiveDependencies: the switch applies to every row anew
  useEffect(() => setRows(new Set()), [all])
  // While all is shown, the set holds the rows that are hidden again.
  const isRevealed = useCallback((row: number) => rows.has(row) !== all, [rows, all])
  const toggle = useCallback((row: number) => {
    setRows((old) => {
      const next = new Set(old)
      if (!next.delete(row)) next.add(row)
      return next
    })
  }, [])
  return useMemo(() => ({ isRevealed, toggle }), [isRevealed, toggle])
}

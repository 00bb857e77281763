import { type RefCallback, useCallback, useEffect, useRef, useState } from 'react'

/** A form whose button is never grey: whoever presses it too early is led to what is missing. */
export interface TriedForm {
  /** Of the element that has the fields. */
  place: RefCallback<HTMLElement>
  /** Whether a person has tried to go on; from then on every field says what is wrong with it. */
  isTried: boolean
  /** Brings the first field that says what is wrong into view, and the focus to it. */
  showFirst: () => void
}

export function useTriedForm(): TriedForm {
  const [tries, setTries] = useState(0)
  const element = useRef<HTMLElement>(null)
  const place = useCallback((form: HTMLElement | null) => {
    element.current = form
  }, [])
  // The fields say what is wrong once they are drawn again.
  useEffect(() => {
    if (tries === 0) return
    const first = element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')
    first?.focus()
    first?.scrollIntoView({ block: 'center' })
  }, [tries])
  return { place, isTried: tries > 0, showFirst: () => setTries((before) => before + 1) }
}

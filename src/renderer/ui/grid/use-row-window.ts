import { useVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useCallback, useEffect, useRef } from 'react'
import { createScrollScale, nextContentTop, toRevealTop, toScrollTop } from './scroll-scale.ts'

const IDLE_MS = 140
const OVERSCAN_ROWS = 6

/** The rows in view and where they stand in the scrolled element. */
export interface RowWindow {
  /** Height of the scrolled element in CSS pixels. */
  scrolledPx: number
  rows: { index: number; topPx: number }[]
  /** Brings a row into view with the smallest move. */
  reveal(index: number): void
}

/**
 * Windows any number of equal rows. Rows taller in all than an element may be are scrolled on a shorter one: the
 * content's own position is kept here, and the scroll bar is put back in proportion whenever it rests.
 * `headPx` is what a sticky head takes from the view.
 */
export function useRowWindow(
  element: RefObject<HTMLElement | null>,
  options: { count: number; rowPx: number; headPx: number },
): RowWindow {
  const { count, rowPx, headPx } = options
  const position = useRef({ contentTop: 0, scrollTop: 0 })
  const notify = useRef<(offset: number, isScrolling: boolean) => void>(() => {})

  const readScale = useCallback(() => {
    const viewPx = Math.max(0, (element.current?.clientHeight ?? 0) - headPx)
    return createScrollScale(count * rowPx, viewPx)
  }, [element, count, rowPx, headPx])
  const scaleReader = useRef(readScale)
  scaleReader.current = readScale

  const moveTo = useCallback(
    (contentTop: number) => {
      const scrolled = element.current
      if (!scrolled) return
      scrolled.scrollTop = toScrollTop(contentTop, scaleReader.current())
      position.current = { contentTop, scrollTop: scrolled.scrollTop }
      notify.current(contentTop, false)
    },
    [element],
  )

  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => element.current,
    estimateSize: () => rowPx,
    overscan: OVERSCAN_ROWS,
    scrollToFn: (offset) => moveTo(offset),
    observeElementOffset: (instance, report) => {
      const scrolled = instance.scrollElement
      if (!scrolled) return
      notify.current = report
      let rest: ReturnType<typeof setTimeout> | undefined
      const settle = () => {
        const { contentTop } = position.current
        const scrollTop = toScrollTop(contentTop, scaleReader.current())
        if (Math.abs(scrollTop - scrolled.scrollTop) >= 1) moveTo(contentTop)
        else report(contentTop, false)
      }
      const follow = () => {
        const { scrollTop } = scrolled
        const previous = position.current
        if (scrollTop === previous.scrollTop) return
        const contentTop = nextContentTop(
          { scrollTop, previousScrollTop: previous.scrollTop, contentTop: previous.contentTop },
          scaleReader.current(),
        )
        position.current = { contentTop, scrollTop }
        report(contentTop, true)
        clearTimeout(rest)
        rest = setTimeout(settle, IDLE_MS)
      }
      report(position.current.contentTop, false)
      scrolled.addEventListener('scroll', follow, { passive: true })
      return () => {
        clearTimeout(rest)
        scrolled.removeEventListener('scroll', follow)
      }
    },
  })

  // A shorter list leaves the browser's scroll position behind: read it again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the number or height of rows changes
  useEffect(() => {
    virtualizer.measure()
    const reach = Math.max(0, count * rowPx - readScale().viewPx)
    if (position.current.contentTop > reach) moveTo(reach)
  }, [count, rowPx])

  const reveal = useCallback(
    (index: number) => {
      const { contentTop } = position.current
      const next = toRevealTop({ index, heightPx: rowPx }, contentTop, scaleReader.current())
      if (next !== contentTop) moveTo(next)
    },
    [rowPx, moveTo],
  )

  const shift = position.current.scrollTop - position.current.contentTop
  return {
    scrolledPx: readScale().scrolledPx,
    rows: virtualizer.getVirtualItems().map((item) => ({ index: item.index, topPx: item.start + shift })),
    reveal,
  }
}

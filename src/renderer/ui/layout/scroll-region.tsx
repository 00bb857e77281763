import type { ReactNode } from 'react'

interface ScrollRegionProps {
  label: string
  className?: string | undefined
  children: ReactNode
}

/** A part of a screen that scrolls by itself. Hidden labels inside scroll with it, since it has a position. */
export function ScrollRegion({ label, className, children }: ScrollRegionProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section className={`relative overflow-auto ${className ?? ''}`} tabIndex={0} aria-label={label}>
      {children}
    </section>
  )
}

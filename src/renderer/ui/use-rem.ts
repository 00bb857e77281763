import { useSyncExternalStore } from 'react'

function subscribe(changed: () => void): () => void {
  window.addEventListener('resize', changed)
  return () => window.removeEventListener('resize', changed)
}

function readRootFontSize(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
}

/** CSS pixels of one rem; follows the window, since large displays have a larger one. */
export function useRem(): number {
  return useSyncExternalStore(subscribe, readRootFontSize)
}

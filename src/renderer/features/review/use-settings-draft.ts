import { useEffect, useRef, useState } from 'react'
import { type Action, useAction } from '../../bridge/use-action.ts'
import type { Settings } from './settings.ts'

const QUIET_MS = 500

/**
 * Settings as they are typed. They are applied when they are usable and the person has stopped typing, since a new
 * address has the rows checked again.
 */
export function useSettingsDraft(
  applied: Settings,
  apply: (settings: Settings) => Promise<void>,
  isUsable: (settings: Settings) => boolean,
): {
  settings: Settings
  change: (settings: Settings) => void
  applying: Action<[Settings]> & { busy: boolean }
} {
  const [settings, change] = useState(applied)
  const applying = useAction(apply)
  const { run, busy } = applying
  const isChanged = JSON.stringify(settings) !== JSON.stringify(applied)
  const usable = useRef(isUsable)
  usable.current = isUsable
  useEffect(() => {
    // One at a time, so that what was typed last is what holds in the end.
    if (!isChanged || busy || !usable.current(settings)) return
    const timer = setTimeout(() => void run(settings), QUIET_MS)
    return () => clearTimeout(timer)
  }, [settings, isChanged, busy, run])
  return { settings, change, applying: { ...applying, busy: busy || isChanged } }
}

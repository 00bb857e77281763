import {
  localStorageColorSchemeManager,
  type MantineColorSchemeManager,
  useMantineColorScheme,
} from '@mantine/core'
import { useEffect, useEffectEvent } from 'react'
import { MEDIA_LOOKS, type Settings } from '../../shared/bridge/settings.ts'
import { changeSettings, useSettings } from '../bridge/settings.ts'
import { blurMedia, useMediaRules } from '../ui/content/media-view.tsx'
import { useContentRules } from '../ui/content/user-content.tsx'

/** How often to check whether a person has been away, milliseconds. */
const LOOK_EVERY_MS = 5_000
const MINUTE_MS = 60_000

const local = localStorageColorSchemeManager()

/** The stored theme; null until it is read. */
let keptTheme: Settings['theme'] | null = null

/** Stores the theme in the settings. The browser's storage only prevents a flash while the window loads. */
export const schemeManager: MantineColorSchemeManager = {
  ...local,
  set(scheme) {
    local.set(scheme)
    const theme = scheme === 'auto' ? 'system' : scheme
    // The settings screen says why they cannot be stored.
    if (keptTheme !== null && keptTheme !== theme) void changeSettings({ theme }).catch(() => {})
  },
}

/** Applies a person's settings to this window, now and at each change. */
export function useStoredSettings(): void {
  const settings = useSettings().data?.settings
  const { setColorScheme } = useMantineColorScheme()
  const { theme, showsContent, mediaLook, keepsMediaStep, startsMuted } = settings ?? {}
  // Mantine returns a new `setColorScheme` each time, and restyles the whole window when it is called.
  const applyTheme = useEffectEvent(setColorScheme)
  useEffect(() => {
    if (theme === undefined) return
    keptTheme = theme
    applyTheme(theme === 'system' ? 'auto' : theme)
  }, [theme])
  useEffect(() => {
    if (showsContent !== undefined) useContentRules.setState({ showsContent })
  }, [showsContent])
  useEffect(() => {
    if (mediaLook !== undefined) useMediaRules.setState({ firstStep: MEDIA_LOOKS.indexOf(mediaLook) })
  }, [mediaLook])
  useEffect(() => {
    if (keepsMediaStep === undefined || startsMuted === undefined) return
    useMediaRules.setState({ keepsStep: keepsMediaStep, startsMuted })
  }, [keepsMediaStep, startsMuted])
  useHideWhenAway(settings?.hideAfterMinutes ?? null)
}

/** Hides all content and stops what plays after this many minutes without a key or mouse movement. */
function useHideWhenAway(minutes: number | null): void {
  useEffect(() => {
    if (minutes === null) return
    let lastSign: number | null = performance.now()
    const note = () => {
      lastSign = performance.now()
    }
    const signs = ['keydown', 'pointerdown', 'pointermove', 'wheel'] as const
    for (const sign of signs) window.addEventListener(sign, note, { capture: true, passive: true })
    const timer = setInterval(() => {
      if (lastSign === null || performance.now() - lastSign < minutes * MINUTE_MS) return
      lastSign = null
      blurMedia()
      useContentRules.getState().hideAll()
    }, LOOK_EVERY_MS)
    return () => {
      clearInterval(timer)
      for (const sign of signs) window.removeEventListener(sign, note, { capture: true })
    }
  }, [minutes])
}

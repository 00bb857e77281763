import {
  localStorageColorSchemeManager,
  type MantineColorScheme,
  type MantineColorSchemeManager,
  useMantineColorScheme,
} from '@mantine/core'
import { useEffect, useEffectEvent } from 'react'
import { MEDIA_LOOKS, type Settings } from '../../shared/bridge/settings.ts'
import { changeSettings, useSettings } from '../bridge/settings.ts'
import { useMediaRules } from '../ui/content/media-view.tsx'
import { useContentRules } from '../ui/content/user-content.tsx'

/** How often it is looked whether a person has been away, milliseconds. */
const LOOK_EVERY_MS = 5_000
const MINUTE_MS = 60_000

const local = localStorageColorSchemeManager()

/** The theme as it is kept; null until it is read. */
let keptTheme: Settings['theme'] | null = null

/** Keeps the theme in the settings. The browser's own memory only spares the window a flash while it loads. */
export const schemeManager: MantineColorSchemeManager = {
  ...local,
  set(scheme) {
    local.set(scheme)
    const theme = scheme === 'auto' ? 'system' : scheme
    // The screen of settings says why they cannot be kept.
    if (keptTheme !== null && keptTheme !== theme) void changeSettings({ theme }).catch(() => {})
  },
}

function toScheme(theme: Settings['theme']): MantineColorScheme {
  return theme === 'system' ? 'auto' : theme
}

/** Applies what a person has set to this window, now and whenever it changes. */
export function useStoredSettings(): void {
  const settings = useSettings().data?.settings
  const { setColorScheme } = useMantineColorScheme()
  const { theme, showsContent, mediaLook, keepsMediaStep, startsMuted } = settings ?? {}
  // Mantine makes another `setColorScheme` each time, and sets styles of the whole window wherever it is called.
  const applyTheme = useEffectEvent(setColorScheme)
  useEffect(() => {
    if (theme === undefined) return
    keptTheme = theme
    applyTheme(toScheme(theme))
  }, [theme])
  useEffect(() => {
    if (showsContent !== undefined) useContentRules.setState({ showsContent })
  }, [showsContent])
  useEffect(() => {
    if (mediaLook === undefined || keepsMediaStep === undefined || startsMuted === undefined) return
    useMediaRules.setState({
      firstStep: MEDIA_LOOKS.indexOf(mediaLook),
      keepsStep: keepsMediaStep,
      startsMuted,
    })
  }, [mediaLook, keepsMediaStep, startsMuted])
  useHideWhenAway(settings?.hideAfterMinutes ?? null)
}

/** Hides all content after so many minutes without a key or a movement. */
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
      useContentRules.getState().hideAll()
    }, LOOK_EVERY_MS)
    return () => {
      clearInterval(timer)
      for (const sign of signs) window.removeEventListener(sign, note, { capture: true })
    }
  }, [minutes])
}

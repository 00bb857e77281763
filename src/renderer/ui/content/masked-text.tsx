import { Switch } from '@mantine/core'
import { IconEyeOff } from '@tabler/icons-react'
import { create } from 'zustand'
import { SafeText } from '../text/safe-text.tsx'
import styles from './content.module.css'
import { toMask } from './content-rule.ts'

interface ContentShown {
  shown: boolean
  setShown: (shown: boolean) => void
}

/** Whether user content is shown on the screens of this window; nothing of it is remembered. */
export const useContentShown = create<ContentShown>((set) => ({
  shown: false,
  setShown: (shown) => set({ shown }),
}))

/** Shows or hides user content on every screen. */
export function ContentSwitch() {
  const { shown, setShown } = useContentShown()
  return (
    <Switch
      label="Show content"
      checked={shown}
      onChange={(event) => setShown(event.currentTarget.checked)}
    />
  )
}

/** User content: only how long it is until it is revealed. `length` is that of the whole text, of which `text` may be a part. */
export function MaskedText(props: { text: string; length?: number; revealed: boolean; max?: number }) {
  const { text, length = text.length, revealed, max } = props
  if (text === '') return null
  if (revealed) return <SafeText text={text} fullLength={length} {...(max !== undefined && { max })} />
  return (
    <span className={styles.masked}>
      <IconEyeOff size="0.9em" aria-hidden />
      {toMask(length)}
    </span>
  )
}

import { IconAlertTriangle, IconFlask, IconPlugConnected, type TablerIcon } from '@tabler/icons-react'
import { SafeText } from '../text/safe-text.tsx'
import styles from './connection.module.css'
import type { NamedPlace } from './destination.ts'

const LOOKS: Record<NamedPlace['kind'], { icon: TablerIcon; className: string | undefined; word: string }> = {
  sandbox: { icon: IconFlask, className: styles.sandbox, word: '' },
  production: { icon: IconAlertTriangle, className: styles.production, word: 'production' },
  other: { icon: IconPlugConnected, className: styles.other, word: '' },
}

/** Where rows go or went, in a colour and with an icon that tell production from the rest. */
export function ConnectionChip({ place }: { place: NamedPlace }) {
  const { icon: Icon, className, word } = LOOKS[place.kind]
  return (
    <span className={`${styles.chip} ${className}`}>
      <Icon size="1em" stroke={2} aria-hidden />
      <SafeText text={place.name} max={80} />
      {word !== '' && <strong>{word}</strong>}
    </span>
  )
}

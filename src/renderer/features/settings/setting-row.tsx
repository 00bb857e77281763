import { type ReactNode, useId } from 'react'
import styles from './settings.module.css'

/** Names a control by the words next to it. */
export interface SettingIds {
  'aria-labelledby': string
  'aria-describedby': string
}

/** One setting: its name and what it does at the left, its control at the right. */
export function SettingRow(props: {
  label: string
  description: ReactNode
  control: (ids: SettingIds) => ReactNode
}) {
  const id = useId()
  const ids = { 'aria-labelledby': `${id}-label`, 'aria-describedby': `${id}-description` }
  return (
    <div className={`row flex-wrap justify-between p-3-4 ${styles.row}`}>
      <div className={`min-w-0 ${styles.words}`}>
        <p className="bold" id={ids['aria-labelledby']}>
          {props.label}
        </p>
        <p className={styles.description} id={ids['aria-describedby']}>
          {props.description}
        </p>
      </div>
      <div className="flex-none">{props.control(ids)}</div>
    </div>
  )
}

import { Group, NumberInput } from '@mantine/core'
import { formatCount } from '../../../shared/messages/figure-text.ts'
import { formatSpan } from '../../ui/format-time.ts'
import { Figures } from '../../ui/layout/figures.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import styles from './review.module.css'
import { estimateDurationMs, type Settings } from './settings.ts'

/** What an answer is taken to need before one was measured, in milliseconds. */
const ASSUMED_ANSWER_MS = 250

/** How fast to send, and what that comes to: requests in all and the time they should take. */
export function PacePanel(props: {
  settings: Settings
  requests: number
  /** Most rows that one request carries. */
  rowsPerItem: number
  /** Mean of the answers so far in milliseconds; null before the first. */
  measuredMs: number | null
  onSettings: (settings: Settings) => void
}) {
  const { settings, requests, rowsPerItem, measuredMs, onSettings } = props
  const answerMs = measuredMs ?? ASSUMED_ANSWER_MS
  const estimate = estimateDurationMs(requests, settings.concurrency, answerMs)
  return (
    <Panel title="Pace">
      <Group gap="md" align="end" className={styles.pace}>
        <NumberField
          label="In flight"
          value={settings.concurrency}
          min={1}
          max={1000}
          onValue={(concurrency) => onSettings({ ...settings, concurrency })}
        />
        <NumberField
          label="Retries"
          value={settings.retries}
          min={0}
          max={100}
          onValue={(retries) => onSettings({ ...settings, retries })}
        />
        <NumberField
          label="Time-out (s)"
          value={settings.timeoutS}
          min={1}
          max={3600}
          onValue={(timeoutS) => onSettings({ ...settings, timeoutS })}
        />
      </Group>
      <Figures
        figures={[
          {
            label: 'Requests in all',
            value: formatCount(requests),
            note: rowsPerItem === 1 ? 'one a row' : `up to ${formatCount(rowsPerItem)} rows in each`,
          },
          {
            label: 'Estimated time',
            value: formatSpan(estimate),
            note:
              measuredMs === null
                ? `if an answer takes ${ASSUMED_ANSWER_MS} ms`
                : `at the ${Math.round(measuredMs)} ms measured`,
          },
        ]}
      />
      <p className={styles.note}>
        Only what was certainly not taken, or is safe to repeat, is retried; a Retry-After is honoured.
      </p>
    </Panel>
  )
}

function NumberField(props: {
  label: string
  value: number
  min: number
  max: number
  onValue: (value: number) => void
}) {
  return (
    <NumberInput
      label={props.label}
      w="6.5rem"
      value={props.value}
      min={props.min}
      max={props.max}
      clampBehavior="strict"
      allowDecimal={false}
      onChange={(value) => {
        if (typeof value === 'number' && value >= props.min) props.onValue(value)
      }}
    />
  )
}

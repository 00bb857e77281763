import { Group, NumberInput } from '@mantine/core'
import { describeLoad, type Load, toMeasuredMs, toPlannedRequests } from '../../../shared/load/load.ts'
import { formatCount } from '../../../shared/messages/figure-text.ts'
import { formatSpan } from '../../ui/format-time.ts'
import { type Figure, Figures, Panel } from '../../ui/layout/screen.tsx'
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
          label="Timeout (s)"
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
            note: rowsPerItem === 1 ? 'one per row' : `up to ${formatCount(rowsPerItem)} rows in each`,
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
        Sluice retries what the service did not accept or what is safe to repeat, and honours Retry-After.
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

const TIMEOUT_MAX_S = 3_600

/** What a load test will do, in words, and what that comes to. */
export function LoadPanel(props: {
  load: Load
  /** Rows that are sent in turn. */
  rows: number
  settings: Settings
  onSettings: (settings: Settings) => void
}) {
  const { load, settings, onSettings } = props
  return (
    <Panel title="Load" aside="nothing is retried">
      <ul className={styles.load}>
        {describeLoad(load, settings.timeoutS * 1000).map((phrase) => (
          <li key={phrase}>{phrase}</li>
        ))}
      </ul>
      <Figures figures={toFigures(load, props.rows)} />
      <NumberInput
        label="Timeout (s)"
        w="6.5rem"
        mt="sm"
        value={settings.timeoutS}
        min={1}
        max={TIMEOUT_MAX_S}
        clampBehavior="strict"
        allowDecimal={false}
        onChange={(value) => {
          if (typeof value === 'number' && value >= 1) onSettings({ ...settings, timeoutS: value })
        }}
      />
    </Panel>
  )
}

function toFigures(load: Load, rows: number): Figure[] {
  const requests = toPlannedRequests(load)
  const measuredMs = toMeasuredMs(load)
  return [
    {
      label: 'Requests',
      value: requests === null ? 'as many as return' : formatCount(requests),
      note: `${formatCount(rows)} ${rows === 1 ? 'row' : 'rows'} in turn, each time under a new post_id`,
    },
    ...(measuredMs === null ? [] : [{ label: 'Measured for', value: formatSpan(measuredMs) }]),
  ]
}

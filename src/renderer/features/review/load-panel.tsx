import { NumberInput } from '@mantine/core'
import { describeLoad, type Load, toMeasuredMs, toPlannedRequests } from '../../../shared/load/load.ts'
import { formatCount } from '../../../shared/messages/figure-text.ts'
import { formatSpan } from '../../ui/format-time.ts'
import { type Figure, Figures } from '../../ui/layout/figures.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import styles from './review.module.css'
import type { Settings } from './settings.ts'

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
        label="Time-out (s)"
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

import { IN_FLIGHT_MAX, RATE_MAX } from '../../../shared/load/load-pace.ts'
import { NumberField, WholeNumber } from '../../ui/fields.tsx'
import type { LoadMistakes, LoadSettings } from './load-settings.ts'

/** The one level of a load, in what it is set in: requests a second, or requests in flight. */
export function LevelField(props: {
  label: string
  isRate: boolean
  load: LoadSettings
  mistakes: LoadMistakes
  onLoad: (load: LoadSettings) => void
}) {
  const { label, load, onLoad } = props
  return props.isRate ? (
    <NumberField
      label={label}
      w="11rem"
      value={load.ratePerSecond}
      min={0}
      max={RATE_MAX}
      decimalScale={3}
      error={props.mistakes['rate']}
      onValue={(value) => value !== null && onLoad({ ...load, ratePerSecond: value })}
    />
  ) : (
    <WholeNumber
      label={label}
      w="11rem"
      value={load.concurrency}
      max={IN_FLIGHT_MAX}
      onValue={(concurrency) => onLoad({ ...load, concurrency })}
    />
  )
}

import { Group, NumberInput, SegmentedControl, Stack, Textarea, TextInput } from '@mantine/core'
import { IN_FLIGHT_MAX, RATE_MAX } from '../../../shared/load/load-pace.ts'
import { WholeNumber } from '../../ui/controls.tsx'
import { Panel } from '../../ui/layout/screen.tsx'
import { findLoadMistakes, hasSchedule, type LoadMistakes, type LoadSettings } from './load-settings.ts'
import styles from './operation.module.css'

/** What the parts of the panel share. */
interface LoadFieldsProps {
  load: LoadSettings
  mistakes: LoadMistakes
  onLoad: (load: LoadSettings) => void
}

/** How hard and how long a deployment is pressed, and what must hold. */
export function LoadOptions({ load, onLoad }: Omit<LoadFieldsProps, 'mistakes'>) {
  const fields = { load, onLoad, mistakes: findLoadMistakes(load) }
  return (
    <Panel title="Load" aside="rows are sent in order, then again from the first">
      <Stack gap="md">
        <PaceFields {...fields} />
        <EndFields {...fields} />
        {hasSchedule(load) && <CapFields {...fields} />}
        <Textarea
          label="Thresholds, one a line"
          description="Metrics and grammar of k6, such as p(99)<500, http_req_failed<0.01 or dropped==0."
          size="xs"
          autosize
          minRows={3}
          maxRows={8}
          spellCheck={false}
          classNames={{ error: styles.mistakes ?? '' }}
          value={load.thresholds}
          error={fields.mistakes.thresholds}
          onChange={(event) => onLoad({ ...load, thresholds: event.currentTarget.value })}
        />
      </Stack>
    </Panel>
  )
}

const PACES = [
  { value: 'closed', label: 'Closed' },
  { value: 'open', label: 'Open' },
  { value: 'stages', label: 'Stages' },
] as const satisfies { value: LoadSettings['pace']; label: string }[]

const MEANINGS: Record<LoadSettings['pace'], string> = {
  closed: 'As many requests in flight as said; the next is sent when one returns.',
  open: 'A rate that is kept whether or not the service keeps up, as its users would.',
  stages: 'Levels held or ramped, one after another.',
}

function PaceFields({ load, mistakes, onLoad }: LoadFieldsProps) {
  return (
    <Stack gap="xs">
      <SegmentedControl
        aria-label="Pace"
        data={[...PACES]}
        value={load.pace}
        onChange={(value) => {
          const chosen = PACES.find((pace) => pace.value === value)
          if (chosen) onLoad({ ...load, pace: chosen.value })
        }}
      />
      <p className={styles.quiet}>{MEANINGS[load.pace]}</p>
      {load.pace === 'closed' && (
        <WholeNumber
          label="Requests in flight"
          w="11rem"
          value={load.concurrency}
          max={IN_FLIGHT_MAX}
          onValue={(concurrency) => onLoad({ ...load, concurrency })}
        />
      )}
      {load.pace === 'open' && (
        <NumberInput
          label="Requests a second"
          w="11rem"
          value={load.ratePerSecond}
          min={0}
          max={RATE_MAX}
          decimalScale={3}
          error={mistakes.rate}
          onChange={(value) => {
            if (typeof value === 'number') onLoad({ ...load, ratePerSecond: value })
          }}
        />
      )}
      {load.pace === 'stages' && (
        <TextInput
          label="Stages"
          description="10@30s holds 10 requests a second for 30 s, 10..50@1m ramps from 10 to 50. Start with concurrency: to set requests in flight instead."
          spellCheck={false}
          autoComplete="off"
          value={load.stages}
          error={mistakes.stages}
          onChange={(event) => onLoad({ ...load, stages: event.currentTarget.value })}
        />
      )}
    </Stack>
  )
}

function EndFields({ load, mistakes, onLoad }: LoadFieldsProps) {
  return (
    <Group gap="md" align="start">
      {load.pace !== 'stages' && (
        <Stack gap={4}>
          <span className={styles.fieldLabel} aria-hidden>
            Ends after
          </span>
          <SegmentedControl
            aria-label="Ends after"
            data={[
              { value: 'duration', label: 'a time' },
              { value: 'requests', label: 'requests' },
            ]}
            value={load.endsBy}
            onChange={(value) => onLoad({ ...load, endsBy: value === 'requests' ? 'requests' : 'duration' })}
          />
        </Stack>
      )}
      {load.pace !== 'stages' && load.endsBy === 'duration' && (
        <TextInput
          label="Duration"
          w="8rem"
          value={load.duration}
          error={mistakes.duration}
          onChange={(event) => onLoad({ ...load, duration: event.currentTarget.value })}
        />
      )}
      {load.pace !== 'stages' && load.endsBy === 'requests' && (
        <WholeNumber
          label="Requests in all"
          w="11rem"
          value={load.requests}
          max={1_000_000_000}
          onValue={(requests) => onLoad({ ...load, requests })}
        />
      )}
      <TextInput
        label="Warm-up, not measured"
        w="11rem"
        value={load.warmup}
        error={mistakes.warmup}
        onChange={(event) => onLoad({ ...load, warmup: event.currentTarget.value })}
      />
    </Group>
  )
}

function CapFields({ load, onLoad }: LoadFieldsProps) {
  return (
    <Group gap="md" align="end">
      <NumberInput
        label="In flight, at most"
        placeholder="rate × time-out"
        w="11rem"
        value={load.maxInFlight ?? ''}
        min={1}
        max={IN_FLIGHT_MAX}
        clampBehavior="strict"
        allowDecimal={false}
        onChange={(value) => onLoad({ ...load, maxInFlight: typeof value === 'number' ? value : null })}
      />
      <Stack gap={4}>
        <span className={styles.fieldLabel} aria-hidden>
          When the limit is reached
        </span>
        <SegmentedControl
          aria-label="When the limit is reached"
          data={[
            { value: 'wait', label: 'wait' },
            { value: 'drop', label: 'drop' },
          ]}
          value={load.whenFull}
          onChange={(value) => onLoad({ ...load, whenFull: value === 'drop' ? 'drop' : 'wait' })}
        />
      </Stack>
    </Group>
  )
}

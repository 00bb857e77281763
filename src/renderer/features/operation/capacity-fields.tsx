import { Group, NumberInput, Stack, TextInput } from '@mantine/core'
import { CAPACITY_DEFAULTS } from '../../../shared/load/capacity-plan.ts'
import { CAPACITY_WARNING } from '../../../shared/load/capacity-view.ts'
import { IN_FLIGHT_MAX, RATE_MAX } from '../../../shared/load/load-pace.ts'
import { WholeNumber } from '../../ui/controls.tsx'
import { Notice } from '../../ui/layout/notice.tsx'
import { LevelField } from './level-field.tsx'
import { hasSchedule, type LoadMistakes, type LoadSettings, type SearchSettings } from './load-settings.ts'

/** Where a capacity search begins, what bounds it, and what it does to the service. */
export function CapacityFields(props: {
  load: LoadSettings
  mistakes: LoadMistakes
  onLoad: (load: LoadSettings) => void
}) {
  const { load, mistakes, onLoad } = props
  const { search } = load
  const isRate = hasSchedule(load)
  const change = (part: Partial<SearchSettings>) => onLoad({ ...load, search: { ...search, ...part } })
  return (
    <Stack gap="md">
      <Notice kind="warning" title="What a capacity search does">
        {CAPACITY_WARNING} Each probe is a load test of its own in the list of runs.
      </Notice>
      <Group gap="md" align="start">
        <LevelField
          label={isRate ? 'First level (requests/s)' : 'First level (in flight)'}
          isRate={isRate}
          load={load}
          mistakes={mistakes}
          onLoad={onLoad}
        />
        <NumberInput
          label="Highest level to send"
          placeholder={`${CAPACITY_DEFAULTS.maxFactor} times the first`}
          w="12rem"
          value={search.max ?? ''}
          min={0}
          max={isRate ? RATE_MAX : IN_FLIGHT_MAX}
          decimalScale={isRate ? 3 : 0}
          error={mistakes['highest level']}
          onChange={(value) => change({ max: typeof value === 'number' ? value : null })}
        />
        <WholeNumber
          label="Probes at most"
          w="8rem"
          value={search.maxProbes}
          max={1_000}
          onValue={(maxProbes) => change({ maxProbes })}
        />
        <TextInput
          label="Longest time"
          w="8rem"
          value={search.maxTime}
          error={mistakes['longest time']}
          onChange={(event) => change({ maxTime: event.currentTarget.value })}
        />
      </Group>
      <Group gap="md" align="start">
        <TextInput
          label="Each probe measures"
          w="10rem"
          value={search.measured}
          error={mistakes['probe duration']}
          onChange={(event) => change({ measured: event.currentTarget.value })}
        />
        <TextInput
          label="After a warm-up of"
          w="10rem"
          value={search.warmup}
          error={mistakes['warm-up']}
          onChange={(event) => change({ warmup: event.currentTarget.value })}
        />
        <TextInput
          label="Pause between probes"
          w="11rem"
          value={search.coolDown}
          error={mistakes['pause between probes']}
          onChange={(event) => change({ coolDown: event.currentTarget.value })}
        />
      </Group>
    </Stack>
  )
}

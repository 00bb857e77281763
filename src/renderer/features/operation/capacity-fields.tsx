import { Group, Stack } from '@mantine/core'
import { CAPACITY_WARNING } from '../../../shared/load/capacity-view.ts'
import { IN_FLIGHT_MAX, RATE_MAX } from '../../../shared/load/load-pace.ts'
import { CAPACITY_OPTIONS, MAX_FACTOR } from '../../../shared/options/capacity-options.ts'
import { NumberField, TextField } from '../../ui/fields.tsx'
import { Notice } from '../../ui/layout/notice.tsx'
import { OptionInputs } from '../../ui/options/option-inputs.tsx'
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
  const fields = { table: CAPACITY_OPTIONS, values: search, mistakes, onChange: change }
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
        <NumberField
          label="Highest level to send"
          placeholder={`${MAX_FACTOR} times the first`}
          w="12rem"
          value={search.max}
          min={0}
          max={isRate ? RATE_MAX : IN_FLIGHT_MAX}
          decimalScale={isRate ? 3 : 0}
          error={mistakes['highest level']}
          onValue={(value) => change({ max: value })}
        />
        <OptionInputs {...fields} section="bounds" />
      </Group>
      <Group gap="md" align="start">
        <TextField
          label="Each probe measures"
          w="10rem"
          value={search.measured}
          error={mistakes['probe duration']}
          onValue={(measured) => change({ measured })}
        />
        <TextField
          label="After a warm-up of"
          w="10rem"
          value={search.warmup}
          error={mistakes['warm-up']}
          onValue={(warmup) => change({ warmup })}
        />
        <OptionInputs {...fields} section="pause" />
      </Group>
    </Stack>
  )
}

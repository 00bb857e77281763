import { Radio, Stack } from '@mantine/core'

/** Whether answers come at once or later, with what each is good for. */
export function ModeChoice(props: { mode: 'sync' | 'async'; onMode: (mode: 'sync' | 'async') => void }) {
  return (
    <Radio.Group
      label="Answers"
      value={props.mode}
      onChange={(value) => props.onMode(value === 'async' ? 'async' : 'sync')}
    >
      <Stack gap="xs" mt="xs">
        <Radio
          value="sync"
          label="At once (sync)"
          description="Each request stays open until its result is there."
        />
        <Radio
          value="async"
          label="Later, by callback (async)"
          description="The service takes each row at once and posts its result to this app: for large batches and long videos."
        />
      </Stack>
    </Radio.Group>
  )
}

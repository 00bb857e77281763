import { NativeSelect, Select, Stack, Switch, TagsInput } from '@mantine/core'
import type { TaskOperation } from '../../../shared/plan/operation.ts'
import { MODELS } from '../../../shared/service/models.ts'
import { ModeChoice } from './mode-choice.tsx'

/** Which version of the interface, which models, which form of answer; the defaults suit text. */
export function TaskOptions(props: {
  operation: TaskOperation
  onOperation: (operation: TaskOperation) => void
}) {
  const { operation, onOperation } = props
  const { api, mode, models } = operation
  return (
    <Stack gap="md">
      <ModeChoice mode={mode} onMode={(chosen) => onOperation({ ...operation, mode: chosen })} />
      <NativeSelect
        label="Version"
        value={api}
        onChange={(event) => {
          const chosen = event.currentTarget.value === 'v2' ? 'v2' : 'v1'
          onOperation({
            ...operation,
            api: chosen,
            models: models.slice(0, chosen === 'v1' ? 1 : undefined),
            legacy: chosen === 'v1' && operation.legacy,
          })
        }}
        data={[
          { value: 'v1', label: 'v1: one model a request' },
          { value: 'v2', label: 'v2: several models, custom indexes' },
        ]}
      />
      {api === 'v1' ? (
        <Select
          label="Model"
          clearable
          allowDeselect
          placeholder="text for text_data, visual for url"
          value={models[0] ?? null}
          onChange={(model) => onOperation({ ...operation, models: model === null ? [] : [model] })}
          data={toModelOptions(mode)}
        />
      ) : (
        <TagsInput
          label="Models"
          size="xs"
          description="Pick models, or type the id of a custom index and press Enter."
          placeholder={models.length === 0 ? 'as the service decides' : ''}
          value={models}
          onChange={(chosen) => onOperation({ ...operation, models: chosen })}
          acceptValueOnBlur
          data={toModelOptions(mode)}
        />
      )}
      {api === 'v1' && (
        <Switch
          label="Legacy answer"
          description="The long form: scores of each class, language, what the text filters found."
          checked={operation.legacy}
          onChange={(event) => onOperation({ ...operation, legacy: event.currentTarget.checked })}
        />
      )}
    </Stack>
  )
}

/** The models, and which of them the interface does not list for the mode: a reason to look twice, not to refuse. */
function toModelOptions(mode: TaskOperation['mode']) {
  return MODELS.map((model) => ({
    value: model.value,
    label: `${model.label} (${model.value})${model[mode] ? '' : `, not listed for ${mode}`}`,
  }))
}

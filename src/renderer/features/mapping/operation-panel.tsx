import { Group, NativeSelect, Select, Switch, TagsInput } from '@mantine/core'
import type { TaskOperation } from '../../../shared/plan.ts'
import { MODELS } from '../../../shared/service/models.ts'
import { Panel } from '../../ui/layout/panel.tsx'

const MODEL_OPTIONS = MODELS.map((model) => ({
  value: model.value,
  label: `${model.label} (${model.value})`,
}))

/** Which version of the interface, which models, which form of answer; the defaults suit text. */
export function OperationPanel(props: {
  operation: TaskOperation
  onOperation: (operation: TaskOperation) => void
}) {
  const { operation, onOperation } = props
  return (
    <Panel title="Submit content" aside={`${operation.api}, ${operation.mode}`}>
      <Group align="end" gap="md">
        <NativeSelect
          label="Version"
          value={operation.api}
          onChange={(event) => {
            const api = event.currentTarget.value === 'v2' ? 'v2' : 'v1'
            onOperation({
              ...operation,
              api,
              models: operation.models.slice(0, api === 'v1' ? 1 : undefined),
            })
          }}
          data={[
            { value: 'v1', label: 'v1: one model a request' },
            { value: 'v2', label: 'v2: several models, custom indexes' },
          ]}
        />
        {operation.api === 'v1' ? (
          <Select
            label="Model"
            w="22rem"
            clearable
            allowDeselect
            placeholder="text for text_data, visual for url"
            value={operation.models[0] ?? null}
            onChange={(model) => onOperation({ ...operation, models: model === null ? [] : [model] })}
            data={MODEL_OPTIONS}
          />
        ) : (
          <TagsInput
            label="Models"
            size="xs"
            w="22rem"
            placeholder={operation.models.length === 0 ? 'as the service decides' : ''}
            value={operation.models}
            onChange={(models) => onOperation({ ...operation, models })}
            data={MODEL_OPTIONS}
          />
        )}
        <Switch
          label="Legacy answer, with scores"
          checked={operation.legacy}
          disabled={operation.api === 'v2'}
          onChange={(event) => onOperation({ ...operation, legacy: event.currentTarget.checked })}
        />
      </Group>
    </Panel>
  )
}

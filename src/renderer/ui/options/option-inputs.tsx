import { Group, SegmentedControl, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { type OptionTable, type PlanOption, readOption } from '../../../shared/options/option.ts'
import { CheckField, NumberField, SelectField, TextField, WholeNumber } from '../controls.tsx'
import { isOfUse, nameOption, type TypedOptions } from './typed-options.ts'

/** An input for each option of a section that has a field and an effect in these circumstances. */
export function OptionInputs<Table extends OptionTable>(props: {
  table: Table
  section: string
  /** Names of options to leave out. */
  without?: readonly string[]
  circumstances?: readonly string[]
  values: TypedOptions<Table>
  mistakes?: Readonly<Record<string, string | undefined>>
  onChange: (change: Partial<TypedOptions<Table>>) => void
}) {
  const { table, section, without = [], circumstances = [], mistakes = {}, onChange } = props
  const values: Readonly<Record<string, unknown>> = props.values
  return Object.entries<PlanOption>(table)
    .filter(([name, option]) => option.section === section && !without.includes(name))
    .filter(([, option]) => isOfUse(option, circumstances))
    .map(([name, option]) => (
      <OptionInput
        key={name}
        name={name}
        option={option}
        value={values[name]}
        mistake={mistakes[nameOption(option)]}
        onValue={(value) => onChange({ [name]: value } as Partial<TypedOptions<Table>>)}
      />
    ))
}

function OptionInput(props: {
  name: string
  option: PlanOption
  value: unknown
  mistake: string | undefined
  onValue: (value: unknown) => void
}) {
  const { option, value, mistake, onValue } = props
  const { field } = option
  const kind = readOption(props.name, option)
  if (field === undefined) return null
  const { label, title, placeholder, width = 11 } = field
  const looks = { label, title, placeholder, w: `${width}rem`, error: mistake }
  switch (kind.kind) {
    case 'duration':
    case 'text':
    case 'other':
      return (
        <TextField
          {...looks}
          value={String(value ?? '')}
          onValue={(text) => onValue(text === '' && kind.kind !== 'duration' ? null : text)}
        />
      )
    case 'choice':
      return kind.otherwise === undefined ? (
        <SelectField
          label={label}
          title={title}
          value={String(value ?? '')}
          onValue={(chosen) => onValue(chosen === '' ? null : chosen)}
          data={[['', placeholder ?? 'not set'] as const, ...kind.choices].map(toItem)}
        />
      ) : (
        <Choice label={label} choices={kind.choices} value={String(value)} onValue={onValue} />
      )
    case 'switch':
      return (
        <CheckField
          label={label}
          title={title}
          // Aligned with the inputs beside it, which have labels above them.
          mt="1.75rem"
          value={value === true}
          onValue={onValue}
        />
      )
    case 'size':
    case 'integer':
    case 'number':
      return value === null || kind.otherwise === undefined ? (
        <NumberField
          {...looks}
          value={typeof value === 'number' ? value : null}
          min={kind.min}
          max={kind.max}
          clampBehavior="strict"
          allowDecimal={kind.kind === 'number'}
          onValue={onValue}
        />
      ) : (
        <WholeNumber {...looks} value={Number(value)} min={kind.min} max={kind.max} onValue={onValue} />
      )
  }
}

function toItem<Value extends string>([value, label]: readonly [Value, string]) {
  return { value, label }
}

/** A choice between two or more, with its name above. */
export function Choice<Value extends string>(props: {
  label: string
  choices: readonly (readonly [value: Value, label: string])[]
  value: Value
  onValue: (value: Value) => void
}) {
  return (
    <Stack gap={4}>
      <span className="text-sm bold" aria-hidden>
        {props.label}
      </span>
      <SegmentedControl
        aria-label={props.label}
        data={props.choices.map(toItem)}
        value={props.value}
        onChange={props.onValue}
      />
    </Stack>
  )
}

export function InputGroup({ title, children }: { title: string; children: ReactNode }) {
  return (
    <fieldset className="min-w-0 p-0 border-0">
      <legend className="small mb-2 p-0 bold">{title}</legend>
      <Group gap="md" align="start">
        {children}
      </Group>
    </fieldset>
  )
}

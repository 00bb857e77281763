import {
  Checkbox,
  type CheckboxProps,
  type MantineSpacing,
  NumberInput,
  type NumberInputProps,
  Radio,
  type RadioGroupProps,
  type RadioProps,
  Stack,
  Switch,
  type SwitchProps,
  Textarea,
  type TextareaProps,
  TextInput,
  type TextInputProps,
} from '@mantine/core'
import type { Ref } from 'react'

// Fields as Mantine has them, which hand over the value instead of the event that changed it.

type Valued<Props, Value, Element = HTMLInputElement> = Omit<Props, 'onChange'> & {
  ref?: Ref<Element>
  onValue: (value: Value) => void
}

/** `isLiteral`: an address, a code or a name of the service, which is neither completed nor checked for spelling. */
export function TextField(props: Valued<TextInputProps, string> & { isLiteral?: true }) {
  const { isLiteral, onValue, ...others } = props
  const literal = isLiteral && { autoComplete: 'off', spellCheck: false }
  return <TextInput {...literal} {...others} onChange={(event) => onValue(event.currentTarget.value)} />
}

export function TextArea({ onValue, ...others }: Valued<TextareaProps, string, HTMLTextAreaElement>) {
  return <Textarea {...others} onChange={(event) => onValue(event.currentTarget.value)} />
}

export function CheckField({ onValue, ...others }: Valued<CheckboxProps, boolean>) {
  return <Checkbox {...others} onChange={(event) => onValue(event.currentTarget.checked)} />
}

export function SwitchField({ onValue, ...others }: Valued<SwitchProps, boolean>) {
  return <Switch {...others} onChange={(event) => onValue(event.currentTarget.checked)} />
}

type NumberProps<Value> = Omit<Valued<NumberInputProps, Value>, 'value'>

/** Null while the field is empty or holds no number. */
export function NumberField(props: NumberProps<number | null> & { value: number | null }) {
  const { value, onValue, ...others } = props
  return (
    <NumberInput
      {...others}
      value={value ?? ''}
      onChange={(typed) => onValue(typeof typed === 'number' ? typed : null)}
    />
  )
}

/** A field for a whole number from `min` (default 1) to `max`; `onValue` gets no other. */
export function WholeNumber(props: NumberProps<number> & { value: number; min?: number; max: number }) {
  const { min = 1, onValue, ...others } = props
  return (
    <NumberInput
      {...others}
      min={min}
      clampBehavior="strict"
      allowDecimal={false}
      thousandSeparator=","
      onChange={(value) => {
        if (typeof value === 'number' && value >= min) onValue(value)
      }}
    />
  )
}

type RadioChoice<Value> = Omit<RadioProps, 'value'> & { value: Value }

/** One of a few choices under each other, each with what it means. */
export function RadioField<Value extends string>(
  props: Omit<Valued<RadioGroupProps, Value>, 'value' | 'children'> & {
    value: Value
    choices: readonly RadioChoice<Value>[]
    gap?: MantineSpacing
  },
) {
  const { choices, gap = 'xs', onValue, ...others } = props
  return (
    <Radio.Group
      {...others}
      onChange={(value) => {
        const chosen = choices.find((one) => one.value === value)
        if (chosen !== undefined) onValue(chosen.value)
      }}
    >
      <Stack gap={gap} mt={others.label === undefined ? 0 : 'xs'}>
        {choices.map((one) => (
          <Radio key={one.value} {...one} />
        ))}
      </Stack>
    </Radio.Group>
  )
}

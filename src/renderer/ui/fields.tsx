import {
  Checkbox,
  type CheckboxProps,
  NumberInput,
  type NumberInputProps,
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

import {
  ActionIcon,
  type ActionIconProps,
  Button,
  type ButtonProps,
  Checkbox,
  type CheckboxProps,
  type ComboboxStringGroupData,
  type ElementProps,
  Group,
  type MantineSpacing,
  Menu,
  NativeSelect,
  type NativeSelectProps,
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
import { useMediaQuery } from '@mantine/hooks'
import {
  IconCheck,
  IconChevronDown,
  IconChevronLeft,
  IconChevronRight,
  IconCopy,
  IconEye,
  IconEyeOff,
  type TablerIcon,
} from '@tabler/icons-react'
import { type ReactNode, type Ref, useEffect, useRef, useState } from 'react'
import { formatCount, formatCounted } from '../../shared/messages/figure-text.ts'
import { nameShortcut, useShortcut } from './shortcuts.ts'

/**
 * The main action of a screen: filled, and on Ctrl+Enter. `blocked` says why it is not available. If it will
 * be available `soon`, for example once typed text is applied, a press is remembered and carried out then.
 */
export function PrimaryButton(props: {
  children: ReactNode
  onPress: () => void
  onApproach?: () => void
  blocked?: string | undefined
  soon?: boolean
  busy?: boolean
  icon?: ReactNode
}) {
  const { onPress, soon = false } = props
  const [isWanted, setWanted] = useState(false)
  const blocked = soon ? undefined : props.blocked
  const busy = props.busy === true || isWanted
  const isOff = blocked !== undefined || busy
  const press = () => (soon ? setWanted(true) : onPress())
  const carryOut = useRef(onPress)
  carryOut.current = onPress
  const canNow = !soon && props.blocked === undefined
  useEffect(() => {
    if (!isWanted || soon) return
    setWanted(false)
    if (canNow) carryOut.current()
  }, [isWanted, soon, canNow])
  useShortcut({ key: 'Enter', mod: true }, isOff ? null : press)
  return (
    <Button
      variant="filled"
      onClick={press}
      onPointerEnter={props.onApproach}
      onFocus={props.onApproach}
      disabled={blocked !== undefined}
      loading={busy}
      title={blocked ?? nameShortcut(['Mod', 'Enter'])}
      {...(props.icon !== undefined && { rightSection: props.icon })}
    >
      {props.children}
    </Button>
  )
}

/** A button with a text, and an icon before it. Small ones are for rows, heads and notices. */
export function ActionButton(
  props: ButtonProps &
    ElementProps<'button', keyof ButtonProps> & { label: ReactNode; icon?: TablerIcon; small?: boolean },
) {
  const { label, icon: Icon, small, ...others } = props
  return (
    <Button
      {...(small && { size: 'compact-sm' })}
      {...(Icon && { leftSection: <Icon size="1rem" aria-hidden /> })}
      {...others}
    >
      {label}
    </Button>
  )
}

/** The first items of a long list, and a button that shows all; null if the list is short. */
export function useFirst<Item>(list: readonly Item[], max: number): [readonly Item[], ReactNode | null] {
  const [all, setAll] = useState(false)
  if (list.length <= max) return [list, null]
  const label = all ? 'Show fewer' : `Show all ${formatCount(list.length)}`
  return [
    all ? list : list.slice(0, max),
    <ActionButton key="all" label={label} variant="subtle" small onClick={() => setAll(!all)} />,
  ]
}

/** A button with only an icon; its name is its label and its tooltip. */
export function IconButton(
  props: ActionIconProps &
    ElementProps<'button', keyof ActionIconProps> & { label: string; icon: TablerIcon },
) {
  const { label, icon: Icon, ...others } = props
  return (
    <ActionIcon aria-label={label} {...others}>
      <Icon size="1rem" aria-hidden />
    </ActionIcon>
  )
}

/** Shows hidden content, or hides it again. */
export function RevealButton(props: Partial<Parameters<typeof ActionButton>[0]> & { isRevealed: boolean }) {
  const { isRevealed, ...others } = props
  return (
    <ActionButton
      label={isRevealed ? 'Hide' : 'Reveal'}
      small
      aria-pressed={isRevealed}
      icon={isRevealed ? IconEyeOff : IconEye}
      {...others}
    />
  )
}

/** An action for a row of a table; its name includes the row's. */
export function RowButton(props: {
  name: string
  label: ReactNode
  onPress: () => void
  isOutlined?: true
  isDisabled?: boolean
  isExpanded?: boolean
}) {
  return (
    <ActionButton
      small
      variant={props.isOutlined ? 'default' : 'subtle'}
      aria-label={props.name}
      aria-expanded={props.isExpanded}
      disabled={props.isDisabled ?? false}
      label={props.label}
      onClick={props.onPress}
    />
  )
}

const SHOWN_MS = 1_600

/** Copies a text, which is created on press, and confirms that. */
export function CopyButton({ label, text }: { label: string; text: () => string }) {
  const [state, setState] = useState<'idle' | 'copied' | 'refused'>('idle')
  useEffect(() => {
    if (state === 'idle') return
    const timer = setTimeout(() => setState('idle'), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [state])
  const copy = () =>
    navigator.clipboard.writeText(text()).then(
      () => setState('copied'),
      () => setState('refused'),
    )
  const words = { idle: label, copied: 'Copied', refused: 'Not allowed to copy' }
  return (
    <Button
      size="compact-xs"
      leftSection={state === 'copied' ? <IconCheck size="1rem" /> : <IconCopy size="1rem" />}
      onClick={copy}
    >
      <span aria-live="polite">{words[state]}</span>
    </Button>
  )
}

/** Binds a field to a member of `of`, by name: passes the value, and calls `onChange` with the new one. */
export function bindFields<Of extends object>(of: Of, onChange: (change: Partial<Of>) => void) {
  return <Name extends keyof Of>(name: Name) => ({
    value: of[name],
    onValue: (value: Of[Name]) => onChange({ [name]: value } as unknown as Partial<Of>),
  })
}

// Mantine's fields, with a callback for the value instead of the event.

type Valued<Props, Value, Element = HTMLInputElement> = Omit<Props, 'onChange'> & {
  ref?: Ref<Element>
  onValue: (value: Value) => void
}

/** `isLiteral`: an address, a code or a name of the service, without completion and spell checking. */
export function TextField(props: Valued<TextInputProps, string> & { isLiteral?: true }) {
  const { isLiteral, onValue, ...others } = props
  const literal = isLiteral && { autoComplete: 'off', spellCheck: false }
  return <TextInput {...literal} {...others} onChange={(event) => onValue(event.currentTarget.value)} />
}

export function TextArea({ onValue, ...others }: Valued<TextareaProps, string, HTMLTextAreaElement>) {
  return <Textarea {...others} onChange={(event) => onValue(event.currentTarget.value)} />
}

type Checked<Props> = Omit<Valued<Props, boolean>, 'value' | 'checked'> & { value: boolean }

export function CheckField({ value, onValue, ...others }: Checked<CheckboxProps>) {
  return <Checkbox {...others} checked={value} onChange={(event) => onValue(event.currentTarget.checked)} />
}

export function SwitchField({ value, onValue, ...others }: Checked<SwitchProps>) {
  return <Switch {...others} checked={value} onChange={(event) => onValue(event.currentTarget.checked)} />
}

/** A choice from a list that the system draws. */
export function SelectField<Value extends string>({
  onValue,
  ...others
}: Omit<Valued<NativeSelectProps, Value, HTMLSelectElement>, 'data' | 'value'> & {
  data: ComboboxStringGroupData<Value>
  value: Value
}) {
  return <NativeSelect {...others} onChange={(event) => onValue(event.currentTarget.value as Value)} />
}

export function toChoices<Value extends string>(words: Readonly<Record<Value, string>>) {
  return (Object.keys(words) as Value[]).map((value) => ({ value, label: words[value] }))
}

type NumberProps<Value> = Omit<Valued<NumberInputProps, Value>, 'value'>

/** Null while the field is empty or has no number. */
export function NumberField(props: NumberProps<number | null> & { value: number | null }) {
  const { value, onValue, onBlur, ...others } = props
  const [typed, setTyped] = useState<TypedNumber | null>(null)
  return (
    <NumberInput
      {...others}
      // An unfinished number such as `1.` stays as typed; a rejected one is dropped.
      value={typed === '' || (typed !== null && toNumber(typed) === value) ? typed : (value ?? '')}
      onChange={(next) => {
        setTyped(next)
        onValue(toNumber(next))
      }}
      onBlur={(event) => {
        setTyped(null)
        onBlur?.(event)
      }}
    />
  )
}

type TypedNumber = string | number | bigint

function toNumber(typed: TypedNumber): number | null {
  return typed === '' || Number.isNaN(Number(typed)) ? null : Number(typed)
}

/**
 * A field for a whole number from `min` (default 1) to `max`; `onValue` gets no other value. An emptied field
 * keeps its number.
 */
export function WholeNumber(props: NumberProps<number> & { value: number; min?: number; max: number }) {
  const { min = 1, value, onValue, ...others } = props
  return (
    <NumberField
      {...others}
      min={min}
      value={value}
      clampBehavior="strict"
      allowDecimal={false}
      thousandSeparator=","
      onValue={(next) => {
        if (next !== null && next >= min) onValue(next)
      }}
    />
  )
}

type RadioChoice<Value> = Omit<RadioProps, 'value'> & { value: Value }

/** A choice of a few options below each other, each with its meaning; false ones are left out. */
export function RadioField<Value extends string>(
  props: Omit<Valued<RadioGroupProps<Value>, Value>, 'value' | 'children'> & {
    value: Value
    choices: readonly (RadioChoice<Value> | false)[]
    gap?: MantineSpacing
  },
) {
  const { gap = 'xs', onValue, ...others } = props
  return (
    <Radio.Group<Value> {...others} onChange={onValue}>
      <Stack gap={gap} mt={others.label === undefined ? 0 : 'xs'}>
        {props.choices.map((one) => one !== false && <Radio key={one.value} {...one} />)}
      </Stack>
    </Radio.Group>
  )
}

/** An action of a screen besides its main one. */
export interface SecondaryAction {
  label: string
  onPress: () => void
  /** A longer description. */
  title?: string
  icon?: TablerIcon
  isBusy?: boolean
}

/** Windows in which they would need a line of their own. */
const NARROW = '(max-width: 60rem)'

/** Actions as buttons side by side, or in one menu if the window is narrow. */
export function SecondaryActions({ actions }: { actions: readonly SecondaryAction[] }) {
  const isNarrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false })
  if (actions.length === 0) return null
  if (!isNarrow) {
    return actions.map(({ label, title, icon: Icon, isBusy = false, onPress }) => (
      <ActionButton
        label={label}
        key={label}
        loading={isBusy}
        title={title}
        leftSection={Icon && <Icon size="1rem" aria-hidden />}
        onClick={onPress}
      />
    ))
  }
  return (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <ActionButton
          label="More"
          loading={actions.some(({ isBusy }) => isBusy)}
          rightSection={<IconChevronDown size="1rem" aria-hidden />}
        />
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map(({ label, title, icon: Icon, onPress }) => (
          <Menu.Item
            key={label}
            title={title}
            leftSection={Icon && <Icon size="1rem" aria-hidden />}
            onClick={onPress}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** The shown part of a list, with buttons for the previous and next part; nothing if one page shows all. */
export function Pager(props: {
  offset: number
  /** Entries per page. */
  limit: number
  total: number
  /** The noun for an entry, for counts. */
  noun: string
  onOffset: (offset: number) => void
}) {
  const { offset, limit, total } = props
  if (total <= limit && offset === 0) return null
  const last = Math.min(total, offset + limit)
  return (
    <Group component="nav" aria-label="Pages" justify="center" gap="sm" p="sm">
      <ActionButton
        label="Previous"
        small
        icon={IconChevronLeft}
        disabled={offset === 0}
        onClick={() => props.onOffset(Math.max(0, offset - limit))}
      />
      <span aria-live="polite">
        {formatCount(Math.min(total, offset + 1))} to {formatCount(last)} of{' '}
        {formatCounted(total, props.noun)}
      </span>
      <ActionButton
        label="Next"
        small
        rightSection={<IconChevronRight size="1rem" aria-hidden />}
        disabled={last >= total}
        onClick={() => props.onOffset(offset + limit)}
      />
    </Group>
  )
}

interface ScrollRegionProps {
  label: string
  className?: string | undefined
  children: ReactNode
}

/** A part of a screen that scrolls by itself. It is positioned, so that hidden labels scroll with it. */
export function ScrollRegion({ label, className, children }: ScrollRegionProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section className={`relative overflow-auto ${className ?? ''}`} tabIndex={0} aria-label={label}>
      {children}
    </section>
  )
}

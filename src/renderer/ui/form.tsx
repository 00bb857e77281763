import { Button, Group, Menu, Stack, type StackProps } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import {
  type FormEvent,
  type FormHTMLAttributes,
  type ReactNode,
  type Ref,
  type RefCallback,
  useCallback,
  useEffect,
  useRef,
  useState,
} from 'react'
import { ActionButton, IconButton, TextField } from './controls.tsx'
import { ErrorNotice } from './layout/screen.tsx'

/** Fields under each other, which Enter or a button of theirs submits. */
export function Form(
  props: StackProps &
    Pick<FormHTMLAttributes<HTMLElement>, 'aria-label' | 'onKeyDown'> & {
      ref?: Ref<HTMLDivElement>
      onSubmit: () => void
    },
) {
  const { onSubmit, ref, ...others } = props
  return (
    <Stack
      gap="md"
      {...others}
      component="form"
      ref={ref}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    />
  )
}

/** The end of a form in a dialog: gives up, or submits it. `children` stand before both. */
export function FormActions(props: {
  submit: ReactNode
  onCancel: () => void
  /** How it goes since it was submitted. */
  sent?: { error: unknown; isPending: boolean }
  isBlocked?: boolean
  /** Why it is blocked. */
  title?: string | undefined
  hasFocus?: boolean
  children?: ReactNode
}) {
  const { error, isPending } = props.sent ?? { error: null, isPending: false }
  return (
    <>
      {error !== null && <ErrorNotice error={error} />}
      <Group justify="flex-end" gap="xs">
        {props.children}
        <Button onClick={props.onCancel}>Cancel</Button>
        <Button
          variant="filled"
          type="submit"
          data-autofocus={props.hasFocus}
          disabled={props.isBlocked ?? false}
          loading={isPending}
          title={props.title}
        >
          {props.submit}
        </Button>
      </Group>
    </>
  )
}

/** Asks for the name of what is saved, or a new one; Escape gives up. What goes wrong is shown by whoever asks. */
function NameForm(props: {
  label: string
  name: string
  onName: (name: string) => Promise<void>
  onClose: () => void
}) {
  const [name, setName] = useState(props.name)
  const trimmed = name.trim()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (trimmed !== '') props.onName(trimmed).catch(() => {})
  }
  return (
    <Stack component="form" gap="xs" my="xs" onSubmit={submit}>
      <TextField
        label={props.label}
        value={name}
        maxLength={80}
        data-autofocus
        autoFocus
        onValue={setName}
        onKeyDown={(event) => event.key === 'Escape' && props.onClose()}
      />
      <Group gap="xs">
        <ActionButton label="Save" variant="filled" type="submit" small disabled={trimmed === ''} />
        <ActionButton label="Cancel" small onClick={props.onClose} />
      </Group>
    </Stack>
  )
}

/**
 * Saving something under a name, and giving what is saved another one: the form that asks for the name, and the menu of
 * a saved one.
 */
export function useNaming(options: {
  noun: string
  onSave: (name: string) => Promise<unknown>
  onRename: (name: string, newName: string) => Promise<unknown>
}) {
  /** The saved one that is renamed; null for one that is not saved yet. */
  const [asked, setAsked] = useState<{ name: string | null } | null>(null)
  return {
    asked,
    askToSave: () => setAsked({ name: null }),
    form: asked !== null && (
      <NameForm
        key={asked.name}
        label={asked.name === null ? `Name of the ${options.noun}` : `New name of ${asked.name}`}
        name={asked.name ?? ''}
        onName={async (name) => {
          await (asked.name === null ? options.onSave(name) : options.onRename(asked.name, name))
          setAsked(null)
        }}
        onClose={() => setAsked(null)}
      />
    ),
    toMenu: (name: string, onRemove: () => Promise<unknown>) => (
      <Menu position="bottom-end">
        <Menu.Target>
          <IconButton icon={IconDots} label={`Actions for ${name}`} />
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setAsked({ name })}>Rename…</Menu.Item>
          <Menu.Item onClick={() => onRemove().catch(() => {})}>Remove</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    ),
  }
}

/** A form whose button is never grey: whoever presses it too early is led to what is missing. */
interface TriedForm {
  /** Of the element that has the fields. */
  place: RefCallback<HTMLElement>
  /** Whether a person has tried to go on; from then on every field says what is wrong with it. */
  isTried: boolean
  /** Brings the first field that says what is wrong into view, and the focus to it. */
  showFirst: () => void
}

export function useTriedForm(): TriedForm {
  const [tries, setTries] = useState(0)
  const element = useRef<HTMLElement>(null)
  const place = useCallback((form: HTMLElement | null) => {
    element.current = form
  }, [])
  // The fields say what is wrong once they are drawn again.
  useEffect(() => {
    if (tries === 0) return
    const first = element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')
    first?.focus()
    first?.scrollIntoView({ block: 'center' })
  }, [tries])
  return { place, isTried: tries > 0, showFirst: () => setTries((before) => before + 1) }
}

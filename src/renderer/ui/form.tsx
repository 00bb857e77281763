import { Button, Group, Menu, Stack, type StackProps } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import {
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

/** Fields below each other, submitted by Enter or by one of their buttons. */
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

/** The end of a form in a dialog: cancels or submits it. `children` precede both buttons. */
export function FormActions(props: {
  submit: ReactNode
  onCancel: () => void
  /** The state of the submission. */
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

/** Asks for the name of something to save or rename; Escape cancels. The caller shows errors. */
function NameForm(props: {
  label: string
  name: string
  onName: (name: string) => Promise<void>
  onClose: () => void
}) {
  const [name, setName] = useState(props.name)
  const trimmed = name.trim()
  const submit = () => {
    if (trimmed !== '') props.onName(trimmed).catch(() => {})
  }
  return (
    <Form gap="xs" my="xs" onSubmit={submit}>
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
    </Form>
  )
}

/** Saving under a name, and renaming: the form for the name, and the menu of a saved entry. */
export function useNaming(options: {
  noun: string
  onSave: (name: string) => Promise<unknown>
  onRename: (name: string, newName: string) => Promise<unknown>
}) {
  /** The entry being renamed; a null name means a new one. */
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

/** A form whose button is never disabled: pressing it too early leads to what is missing. */
interface TriedForm {
  /** For the element with the fields. */
  place: RefCallback<HTMLElement>
  /** Whether a person has tried to continue; from then on, every field shows what is wrong. */
  isTried: boolean
  /** Scrolls to the first field with a mistake, and focuses it. */
  showFirst: () => void
}

export function useTriedForm(): TriedForm {
  const [tries, setTries] = useState(0)
  const element = useRef<HTMLElement>(null)
  const place = useCallback((form: HTMLElement | null) => {
    element.current = form
  }, [])
  // Fields show mistakes only after they are drawn again.
  useEffect(() => {
    if (tries === 0) return
    const first = element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')
    first?.focus()
    first?.scrollIntoView({ block: 'center' })
  }, [tries])
  return { place, isTried: tries > 0, showFirst: () => setTries((before) => before + 1) }
}

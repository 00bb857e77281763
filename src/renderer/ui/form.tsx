import { Button, Group, Stack, type StackProps } from '@mantine/core'
import type { FormHTMLAttributes, ReactNode, Ref } from 'react'
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

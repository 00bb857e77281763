import { Group, TagsInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useLayoutEffect, useRef } from 'react'
import { parseBridgeError } from '../../../shared/bridge/errors.ts'
import type { AnnotationChange } from '../../../shared/lookback/annotations.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { bridge } from '../../bridge/client.ts'
import { followAgain } from '../../bridge/live-runs.ts'
import { ActionButton, TextArea, TextField } from '../../ui/controls.tsx'
import { Form } from '../../ui/form.tsx'
import { ErrorNotice } from '../../ui/layout/screen.tsx'
import { showToast } from '../../ui/layout/toasts.tsx'
import { hasMod, nameShortcut } from '../../ui/shortcuts.ts'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './runs.module.css'

/** A person's notes about a run, as in the fields. */
export interface RunNotesDraft {
  name: string
  tags: readonly string[]
  note: string
}

/** The current notes about a run. */
function toNotesDraft({ name, tags = [], note = '' }: RunSummary): RunNotesDraft {
  return { name, tags, note }
}

/** The change from one to the other; null if they are equal. With exchanged arguments, it is the undo. */
export function toAnnotationChange(before: RunNotesDraft, after: RunNotesDraft): AnnotationChange | null {
  const addTags = after.tags.filter((tag) => !before.tags.includes(tag))
  const removeTags = before.tags.filter((tag) => !after.tags.includes(tag))
  const change: AnnotationChange = {
    ...(after.name.trim() !== before.name && { name: after.name.trim() }),
    ...(after.note.trim() !== before.note && { note: after.note.trim() }),
    ...(addTags.length > 0 && { addTags }),
    ...(removeTags.length > 0 && { removeTags }),
  }
  if (Object.keys(change).length === 0) return null
  return { ...change, before: { name: before.name.trim(), note: before.note.trim() } }
}

function offerUndo({ run_id: runId, name }: RunSummary, change: AnnotationChange): void {
  showToast({
    key: `notes of ${runId}`,
    kind: 'good',
    title: (
      <>
        <SafeText text={name} max={60} /> was changed
      </>
    ),
    undo: async () => {
      await bridge.history.annotate({ runId, change })
      followAgain(runId)
    },
  })
}

export interface EditedNotes {
  run: RunSummary
  /** As the editor was opened with, or as an error has said since. */
  before: RunNotesDraft
  draft: RunNotesDraft
  /** The field that has the focus, kept while the editor moves. */
  focus: { at: FieldFocus | null }
}

/** A field by its place in the form, and what is selected in it. */
interface FieldFocus {
  place: number
  from: number
  to: number
}

/** Begins with the current notes about a run. */
export function editNotes(run: RunSummary): EditedNotes {
  const before = toNotesDraft(run)
  return { run, before, draft: before, focus: { at: { place: 0, from: 0, to: run.name.length } } }
}

/** Whether saving the notes would change them. */
export function isTyped({ before, draft }: EditedNotes): boolean {
  return toAnnotationChange(before, draft) !== null
}

/** Edits the name, tags and note of a run in place. Ctrl+Enter saves, Escape cancels. */
export function RunEditor(props: {
  edited: EditedNotes
  onEdit: (edited: EditedNotes) => void
  knownTags: readonly string[]
  onClose: () => void
}) {
  const { edited, onClose } = props
  const { run, before, draft, focus } = edited
  const setDraft = (next: RunNotesDraft) => props.onEdit({ ...edited, draft: next })
  const editor = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const fields = listFields(editor.current)
    if (focus.at !== null) {
      const { place, from, to } = focus.at
      fields[place]?.focus()
      fields[place]?.setSelectionRange(from, to)
    }
    return () => {
      const place = fields.findIndex((field) => field.matches(':focus'))
      const { selectionStart, selectionEnd } = fields[place] ?? {}
      focus.at = place === -1 ? null : { place, from: selectionStart ?? 0, to: selectionEnd ?? 0 }
    }
  }, [focus])
  const save = useMutation({
    mutationFn: async () => {
      const change = toAnnotationChange(before, draft)
      if (change === null) return onClose()
      await bridge.history.annotate({ runId: run.run_id, change })
      followAgain(run.run_id)
      offerUndo(run, toAnnotationChange(draft, before) ?? {})
      onClose()
    },
    onError: (error) => {
      const said = parseBridgeError(error)?.said
      if (said?.id === 'annotations_changed')
        props.onEdit({ ...edited, before: { ...before, [said.what]: said.value } })
    },
  })
  return (
    <Form
      ref={editor}
      gap="xs"
      className={styles.editor}
      aria-label={`Name, tags and note of ${run.name}`}
      onSubmit={() => save.mutate()}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !event.defaultPrevented) onClose()
        if (event.key === 'Enter' && hasMod(event)) {
          event.preventDefault()
          save.mutate()
        }
      }}
    >
      <TextField
        label="Name"
        description="Leave it empty for the name from the plan."
        maxLength={200}
        value={draft.name}
        onValue={(name) => setDraft({ ...draft, name })}
      />
      <TagsInput
        label="Tags"
        description="Enter or a comma ends a tag."
        size="xs"
        data={[...props.knownTags]}
        value={[...draft.tags]}
        onChange={(tags) => setDraft({ ...draft, tags })}
        splitChars={[',']}
        maxTags={50}
      />
      <TextArea
        label="Note"
        size="xs"
        autosize
        minRows={2}
        maxRows={8}
        maxLength={10_000}
        value={draft.note}
        onValue={(note) => setDraft({ ...draft, note })}
      />
      {save.error !== null && <ErrorNotice error={save.error} />}
      <Group gap="xs">
        <ActionButton
          label="Save"
          variant="filled"
          type="submit"
          small
          loading={save.isPending}
          title={nameShortcut(['Mod', 'Enter'])}
        />
        <ActionButton label="Cancel" small onClick={onClose} />
      </Group>
    </Form>
  )
}

function listFields(editor: HTMLElement | null): (HTMLInputElement | HTMLTextAreaElement)[] {
  return [...(editor?.querySelectorAll<HTMLInputElement>('input:not([type="hidden"]), textarea') ?? [])]
}

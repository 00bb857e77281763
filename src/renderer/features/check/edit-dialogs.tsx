import { Button, Modal } from '@mantine/core'
import { skipToken, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { findUnknownPlaceholders } from '../../../shared/mapping/check-mapping.ts'
import { toColumnIndex } from '../../../shared/mapping/match-columns.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { sayExpected } from '../../../shared/messages/problem-messages.ts'
import { addFix, type Fix, getFixedRecord } from '../../../shared/plan/fixes.ts'
import type { Mapping } from '../../../shared/plan/plan.ts'
import { sayRow } from '../../../shared/plan/source-place.ts'
import type { ProblemGroup } from '../../../shared/run/problem.ts'
import type { RowDetail } from '../../../shared/run/results.ts'
import { ask } from '../../bridge/client.ts'
import {
  isFieldContent,
  isFoundContent,
  isWrittenField,
  MaskedText,
  useContentShown,
  useOnHideAll,
} from '../../ui/content/user-content.tsx'
import { CheckField, TextArea, TextField } from '../../ui/controls.tsx'
import { Form, FormActions } from '../../ui/form.tsx'
import { ErrorNotice } from '../../ui/layout/screen.tsx'
import { ExpectedSentence } from '../../ui/problems/row-warnings.tsx'
import { hasMod, nameShortcut } from '../../ui/shortcuts.ts'
import { Sentence } from '../../ui/text/safe-text.tsx'

/** Corrects fields of one row, as if its cells had other texts. */
export function RowDialog(props: {
  runId: string
  row: number
  fields: readonly string[]
  /** What fills each field, including columns matched by name. */
  mapping: Mapping
  fixes: readonly Fix[]
  onFixes: (fixes: Fix[]) => void
  onClose: () => void
}) {
  const { runId, row, onClose } = props
  const detail = useQuery(
    ask.results.row.queryOptions({
      input: runId === '' ? skipToken : { runId, row },
      staleTime: 0,
      gcTime: 0,
    }),
  )
  const place = detail.data?.result.place
  return (
    // Opened after its fields are loaded, so that the first one gets the focus.
    <Modal
      opened={detail.data !== undefined || detail.error !== null}
      onClose={onClose}
      size="lg"
      title={`Correct row ${place === undefined ? row : sayRow(place)}`}
    >
      {detail.error !== null && <ErrorNotice error={detail.error} />}
      {detail.data !== undefined && <RowForm {...props} detail={detail.data} />}
    </Modal>
  )
}

/** The editable fields of a row, and its problems: first those of the whole row, then those of each field. */
export function RowForm(props: Parameters<typeof RowDialog>[0] & { detail: RowDetail }) {
  const { detail, fields, mapping, fixes, onFixes, onClose } = props
  const row = detail.halfOf ?? props.row
  const [typed, setTyped] = useState<Record<string, string>>({})
  const known = fields.map((field) => {
    const own = readOwn(detail, mapping, field)
    const fix = fixes.find(
      (one) =>
        one.kind === 'cell' &&
        getFixedRecord(one) === row &&
        one.field === field &&
        // A fix for a row with other cells does not apply here.
        (one.rowHash ?? detail.rowHash) === detail.rowHash,
    )
    return { field, own, value: fix?.kind === 'cell' ? fix.value : (own ?? '') }
  })
  const save = () => {
    let next = [...fixes]
    for (const { field, own, value } of known) {
      const text = typed[field]
      if (text === undefined || text === value) continue
      next =
        text === own
          ? next.filter((one) => !(one.kind === 'cell' && getFixedRecord(one) === row && one.field === field))
          : addFix(next, {
              kind: 'cell',
              record: row,
              rowHash: detail.rowHash,
              field,
              value: text,
              ...(own !== null && { was: own }),
            })
    }
    onFixes(next)
    onClose()
  }
  const shown = useContentShown()
  const ofRow = detail.problems.filter(({ field }) => field === undefined)
  return (
    <Form onSubmit={() => save()}>
      {ofRow.map((problem) => (
        <p className="quiet" key={`${problem.code} ${problem.found ?? ''}`}>
          <ExpectedSentence problem={problem} />{' '}
          {problem.found !== undefined && (
            <MaskedText text={problem.found} max={80} revealed={shown || !isFoundContent(problem)} />
          )}
        </p>
      ))}
      {known.map(({ field, own, value }, index) => (
        <FieldInput
          key={field}
          field={field}
          own={own}
          value={typed[field] ?? value}
          isTyped={typed[field] !== undefined}
          hasFocus={index === 0}
          expected={detail.problems
            .filter((problem) => problem.field === field)
            .map((problem) => sayExpected(problem, 'window'))}
          onValue={(text) => setTyped((others) => ({ ...others, [field]: text }))}
        />
      ))}
      <p className="quiet">
        The file stays as it is. Results and exports keep its cells and show what was sent as well.{' '}
        {nameShortcut(['Mod', 'Enter'])} corrects the row.
      </p>
      <DialogActions onClose={onClose} label="Correct" />
    </Form>
  )
}

/** The source's text for a field; null if no single column fills it. */
function readOwn({ result, columns }: RowDetail, mapping: Mapping, field: string): string | null {
  const source = mapping[field]
  if (source?.kind !== 'column') return null
  return result.cells[toColumnIndex(columns, source)] ?? ''
}

/** One field of a row. User content is shown once the person asks for it, or types another text. */
function FieldInput(props: {
  field: string
  own: string | null
  value: string
  /** Whether the person has typed in it: typed text stays visible. */
  isTyped: boolean
  hasFocus: boolean
  expected: readonly string[]
  onValue: (value: string) => void
}) {
  const { field, own, value } = props
  const areContentsShown = useContentShown()
  const [revealed, setRevealed] = useState(false)
  useOnHideAll(() => setRevealed(false))
  const isHidden =
    isFieldContent(field, value) && value !== '' && !areContentsShown && !revealed && !props.isTyped
  const expected = props.expected.length === 0 ? '' : `It ${props.expected.join(', and ')}. `
  const description = `${expected}${own === null || own === '' ? '' : 'Empty it to leave the field out.'}`
  if (isHidden) {
    return (
      <div>
        <p className="bold">{field}</p>
        <p className="quiet">
          {expected}Its text is hidden ({formatCounted(value.length, 'character')}).
        </p>
        <Button
          size="compact-sm"
          onClick={() => setRevealed(true)}
          {...(props.hasFocus && { 'data-autofocus': true })}
        >
          Show the text to edit it
        </Button>
      </div>
    )
  }
  return (
    <TextArea
      label={field}
      description={description}
      autosize
      minRows={1}
      maxRows={10}
      value={value}
      onValue={props.onValue}
      onKeyDown={(event) => {
        // Only written text can have several lines.
        if (event.key !== 'Enter' || (isWrittenField(field) && !hasMod(event))) return
        event.preventDefault()
        event.currentTarget.form?.requestSubmit()
      }}
      autoComplete="off"
      spellCheck={false}
      {...(props.hasFocus && { 'data-autofocus': true })}
    />
  )
}

export function ValueDialog(props: {
  group: ProblemGroup
  field: string
  columns: readonly string[]
  fixes: readonly Fix[]
  onFixes: (fixes: Fix[]) => void
  onClose: () => void
}) {
  const { group, field, columns, fixes, onFixes, onClose } = props
  const [typed, setTyped] = useState('')
  const [isEmpty, setEmpty] = useState(false)
  const value = isEmpty ? '' : typed
  const [unknown] = findUnknownPlaceholders(field, value, columns, [])
  return (
    <Modal opened onClose={onClose} title={`Set ${field} in ${formatCounted(group.rows, 'row')}`}>
      <Form
        onSubmit={() => {
          onFixes(addFix(fixes, { kind: 'value', problem: group.code, field, value }))
          onClose()
        }}
      >
        <TextField
          data-autofocus
          label={field}
          description={
            <Sentence
              text={`Sent in every row with this problem (${sayExpected(group, 'window')}). {{row}} stands for the record number, 1 for the first row below the header; {{column name}} for the cell of the row.`}
            />
          }
          value={value}
          onValue={setTyped}
          disabled={isEmpty}
          error={
            unknown === undefined ? undefined : 'A name between {{ and }} is not a column of this source.'
          }
          isLiteral
        />
        {group.code !== 'required' && (
          <CheckField label="Leave the field empty" value={isEmpty} onValue={setEmpty} />
        )}
        <DialogActions
          onClose={onClose}
          label={isEmpty ? 'Empty the field' : 'Set the value'}
          blocked={unknown !== undefined || (value === '' && !isEmpty)}
        />
      </Form>
    </Modal>
  )
}

function DialogActions(props: { onClose: () => void; label: string; blocked?: boolean }) {
  return <FormActions submit={props.label} onCancel={props.onClose} isBlocked={props.blocked ?? false} />
}

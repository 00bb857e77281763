import { Group } from '@mantine/core'
import { IconAlertTriangle, IconCircleX } from '@tabler/icons-react'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { PROBLEM_MESSAGES, sayExpected } from '../../../shared/messages/problem-messages.ts'
import { findNeeds, isHint } from '../../../shared/messages/problem-traits.ts'
import { fieldsOf, type Operation, REQUEST_FIELD } from '../../../shared/operations/operations.ts'
import { addFix, type Fix } from '../../../shared/plan/fixes.ts'
import { listLeaveOut, listReadyFixes, type ReadyFix } from '../../../shared/plan/ready-fixes.ts'
import { sayRow, toRowNumber } from '../../../shared/plan/source-place.ts'
import { getPlace, type ProblemCode, type ProblemGroup } from '../../../shared/run/problem.ts'
import { isFoundContent, MaskedText, useContentShown } from '../../ui/content/user-content.tsx'
import { ActionButton, RowButton } from '../../ui/controls.tsx'
import { ExpectedSentence, ProblemField } from '../../ui/problems/row-warnings.tsx'
import { RowNumber } from '../../ui/states/row-states.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText, Sentence } from '../../ui/text/safe-text.tsx'
import styles from './check.module.css'

const LOOKS = {
  error: { icon: IconCircleX, word: 'Error', className: 'bad' },
  warning: { icon: IconAlertTriangle, word: 'Warning', className: 'warned' },
} as const

/**
 * One cause of problems: its description, its rows, ways to correct all of them, and the first rows, each
 * with a way to correct it.
 */
export function ProblemGroupCard(props: {
  group: ProblemGroup
  can: GroupFixes
  fixes: readonly Fix[]
  /** The person's name of the column that fills a field. */
  columnOf: (field: string) => string | null
  onFixes: (fixes: Fix[]) => void
  onEdit: (row: number, fields: readonly string[]) => void
  onValue: (field: string) => void
  /** Opens a row's request, to change it and send it once by hand. */
  onScratchpad: (row: number) => void
}) {
  const { group, can, fixes, columnOf, onFixes, onEdit, onValue } = props
  const { offered, valueField, editFields } = can
  const advice = PROBLEM_MESSAGES[group.code]
  const shown = useContentShown()
  const { icon: Icon, word, className } = LOOKS[group.severity]
  return (
    <article className="border rounded-large bg-surface" data-code={group.code}>
      <Group component="header" gap="sm" wrap="nowrap" py="xs" px="md">
        <span className={`inline-flex items-center gap-1 bold ${className}`}>
          <Icon size="1.1rem" aria-hidden />
          {word}
        </span>
        <h3 className="flex-1 text-md bold" tabIndex={-1}>
          {advice.title}
          <ProblemField field={group.field} />
        </h3>
        {findNeeds(group) !== null && <span className="quiet">to be confirmed</span>}
        <span className="bold">
          {group.unsent === undefined
            ? formatCounted(group.rows, 'row')
            : group.rows > 0
              ? `${formatCounted(group.rows, 'row')}; ${formatCounted(group.unsent, 'more row')} not sent`
              : `${formatCounted(group.unsent, 'row')}, not sent`}
        </span>
      </Group>
      {group.examples.length === 0 && !isHint(group) && (
        <p className={`max-w-text quiet stressed ${styles.fix}`}>
          <ExpectedSentence problem={group} />
        </p>
      )}
      <p className={`max-w-text quiet stressed ${styles.fix}`}>
        <strong>Fix:</strong> {advice.remedy}
      </p>
      {offered.length > 0 && (
        <div className={`flex flex-wrap gap-2 ${styles.groupActions}`}>
          {offered.slice(0, -1).map(({ label, fix }, index) => (
            <ActionButton
              label={label}
              key={label}
              variant={index === 0 ? 'filled' : 'default'}
              small
              onClick={() => onFixes(addFix(fixes, fix))}
            />
          ))}
          {valueField !== null && (
            <ActionButton label="Set a value…" small onClick={() => onValue(valueField)} />
          )}
          {offered.slice(-1).map(({ label, fix }) => (
            <ActionButton label={label} key={label} small onClick={() => onFixes(addFix(fixes, fix))} />
          ))}
        </div>
      )}
      {group.examples.length > 0 && (
        <div className="overflow-auto">
          <Table
            look="dense"
            className={styles.examples}
            caption="First rows with this problem"
            rows={group.examples}
            toKey={(problem) => `${problem.row} ${problem.field ?? ''} ${sayExpected(problem, 'window')}`}
            columns={[
              {
                title: 'Row',
                isNumber: true,
                className: group.examples.some((problem) => getPlace(problem).file !== undefined)
                  ? styles.fileRow
                  : styles.row,
                cell: (problem) => <RowNumber record={problem.row} place={getPlace(problem)} />,
              },
              {
                title: 'Column',
                className: styles.column,
                cell: ({ field }) => <SafeText text={toColumnName(field, columnOf)} max={40} />,
              },
              { title: 'Expected', cell: (problem) => <Sentence text={sayExpected(problem, 'window')} /> },
              {
                title: 'Found',
                className: styles.found,
                cell: (problem) =>
                  problem.found === undefined ? (
                    <span className="quiet italic">nothing</span>
                  ) : (
                    <MaskedText text={problem.found} max={80} revealed={shown || !isFoundContent(problem)} />
                  ),
              },
              {
                title: 'Actions',
                isActions: true,
                className: styles.rowActions,
                cell: (problem) => (
                  <>
                    {editFields.length > 0 && (
                      <RowButton
                        label={`Edit row ${toRowNumber(getPlace(problem))}`}
                        name={`Edit row ${sayRow(getPlace(problem))}`}
                        isOutlined
                        onPress={() => onEdit(problem.row, editFields)}
                      />
                    )}{' '}
                    <RowButton
                      label="Scratchpad"
                      name={`Open row ${sayRow(getPlace(problem))} in Scratchpad`}
                      isOutlined
                      onPress={() => props.onScratchpad(problem.row)}
                    />
                  </>
                ),
              },
            ]}
          />
        </div>
      )}
      {group.examples.length > 0 && group.rows > group.examples.length && (
        <p className={`quiet border-t ${styles.more}`}>
          and {formatCounted(group.rows - group.examples.length, 'more row', 'more rows')}
        </p>
      )}
    </article>
  )
}

function toColumnName(field: string | undefined, columnOf: (field: string) => string | null): string {
  if (field === undefined) return 'whole row'
  const column = columnOf(field)
  return column === null ? field : column
}

/** What can be done here about the problems of one cause. */
interface GroupFixes {
  /** Applied with one press. */
  offered: ReadyFix[]
  /** The field that can get one value in all these rows; null if that would not help. */
  valueField: string | null
  /** The fields that can be edited in each of the rows; empty if the problem is not in a field. */
  editFields: string[]
}

/** Problems with a value, which another value for all rows may solve. */
const OF_A_VALUE: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'required',
  'forbidden_character',
  'invisible_characters',
  'quotes_in_id',
  'lost_id',
  'not_distinct',
  'not_json_object',
  'not_a_url',
  'wrong_type',
  'error_cell',
  'too_long',
  'too_many_models',
  'unknown_model',
  'model_not_listed',
  'not_for_mode',
  'recommended',
  'empty',
])

/** The fixes for a group of problems. A cause of all rows, without examples, is corrected in the mapping. */
export function listGroupFixes(group: ProblemGroup, operation: Operation, isLoad: boolean): GroupFixes {
  if (group.examples.length === 0) return { offered: [], valueField: null, editFields: [] }
  const { code, field } = group
  const names = listEditable(operation)
  const isKnown = field !== null && names.includes(field)
  const canSplit = operation.kind === 'task' && operation.api === 'v1' && !isLoad
  const ready = listReadyFixes(group).filter(({ fix }) => canSplit || fix.kind !== 'split')
  return {
    offered: [...ready, ...listLeaveOut(group)],
    valueField: isKnown && OF_A_VALUE.has(code) ? field : null,
    editFields: isKnown ? [field] : code === 'one_of' ? listContentFields(operation) : [],
  }
}

/** The fields that can be edited in a single row; a whole request is corrected in the file. */
export function listEditable(operation: Operation): string[] {
  return fieldsOf(operation)
    .filter((field) => field !== REQUEST_FIELD)
    .map(({ name }) => name)
}

function listContentFields(operation: Operation): string[] {
  return fieldsOf(operation)
    .filter(({ required }) => required === 'content')
    .map(({ name }) => name)
}

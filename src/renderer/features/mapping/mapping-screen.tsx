import { IconArrowRight } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { BridgePreview } from '../../../shared/bridge/source.ts'
import { assessMapping } from '../../../shared/mapping/check-mapping.ts'
import { findDoubtfulColumns, toSwappedWarning } from '../../../shared/mapping/doubt-columns.ts'
import { fieldsFor, suggestMapping, toColumnIndex } from '../../../shared/mapping/match-columns.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { sayMistake } from '../../../shared/messages/mapping-messages.ts'
import { sayExpected } from '../../../shared/messages/problem-messages.ts'
import type { Operation } from '../../../shared/operations/operations.ts'
import type { Mapping } from '../../../shared/plan/plan.ts'
import { ContentSwitch } from '../../ui/content/user-content.tsx'
import { ActionButton, PrimaryButton, TextField } from '../../ui/controls.tsx'
import { Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { Table } from '../../ui/table/table.tsx'
import { Sentence } from '../../ui/text/safe-text.tsx'
import { ColumnTable } from './column-table.tsx'
import styles from './mapping.module.css'
import { useSavedMappings } from './saved-mappings.tsx'

/** Which column, constant or template fills which field: your table at the left, what it becomes at the right. */
export function MappingScreen(props: {
  preview: BridgePreview
  mapping: Mapping
  operation: Operation
  /** What the rows are for, with the way to change it. */
  strip: ReactNode
  /** What keeps the rows from being checked, in addition to the mapping itself, or null. */
  todo: string | null
  busy: boolean
  onMapping: (mapping: Mapping) => void
  onContinue: () => void
}) {
  const { preview, mapping, operation } = props
  const { columns } = preview
  const gaps = assessMapping(mapping, operation, columns, preview.rows).map((mistake) => ({
    field: mistake.field,
    ...sayMistake(mistake, 'window'),
  }))
  const doubtful = findDoubtfulColumns(mapping, columns, preview.rows)
  const suggested = suggestMapping(columns, operation, preview)
  const saved = useSavedMappings({ operation, columns, mapping, onMapping: props.onMapping })
  const mapped = Object.values(mapping).filter((source) => toColumnIndex(columns, source) >= 0).length
  return (
    <Screen
      title="Mapping"
      subtitle={`${formatCount(mapped)} of ${formatCounted(columns.length, 'column')} mapped`}
      actions={
        <>
          <ContentSwitch />
          <ActionButton label="Match by name" onClick={() => props.onMapping(suggested.mapping)} />
          <PrimaryButton
            onPress={props.onContinue}
            busy={props.busy}
            blocked={gaps[0]?.message ?? props.todo ?? undefined}
            icon={<IconArrowRight size="1rem" />}
          >
            Check all rows
          </PrimaryButton>
        </>
      }
    >
      {props.strip}
      {gaps.length > 0 && (
        <Notice kind="warning" title="Complete the mapping before the rows are checked">
          <ul>
            {gaps.map((gap) => (
              <li key={`${gap.field} ${gap.message}`}>
                <strong>{gap.message}.</strong> {gap.remedy}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {doubtful.length > 0 && (
        <Notice kind="warning" title="These columns may be swapped">
          <ul>
            {doubtful.map((found) => (
              <li key={found.field}>
                <strong>{found.field}</strong>{' '}
                <Sentence text={sayExpected(toSwappedWarning(found), 'window')} />.
              </li>
            ))}
          </ul>
          Choose another field for them, or continue if that is right.
        </Notice>
      )}
      {saved.panel}
      <Panel
        title="Your table becomes"
        flush
        aside={<>Columns without a field are kept in the export {saved.button}</>}
      >
        <ColumnTable
          preview={preview}
          mapping={mapping}
          operation={operation}
          confidence={suggested.confidence}
          onMapping={props.onMapping}
        />
      </Panel>
      <Panel title="Fields without a column" flush aside="One value for all rows, or a template">
        <FieldTable
          columns={columns}
          mapping={mapping}
          operation={operation}
          gaps={gaps}
          onMapping={props.onMapping}
        />
      </Panel>
    </Screen>
  )
}

/** The fields that no column fills: required ones first, each with room for a constant or a template. */
function FieldTable(props: {
  columns: readonly string[]
  mapping: Mapping
  operation: Operation
  /** What is wrong with which field, in words. */
  gaps: readonly { field: string; message: string }[]
  onMapping: (mapping: Mapping) => void
}) {
  const { columns, mapping, gaps } = props
  const fields = fieldsFor(props.operation)
    .filter((field) => field.name !== 'models' && field.kind !== 'json_object')
    .filter((field) => toColumnIndex(columns, mapping[field.name]) < 0)
    .sort((a, b) => Number(b.required === 'always') - Number(a.required === 'always'))
  return (
    <Table
      className={styles.table}
      rows={fields}
      toKey={({ name }) => name}
      columns={[
        {
          title: 'Field',
          className: `pre-wrap ${styles.column}`,
          cell: ({ name, required }) => (
            <>
              {name}
              {required === 'always' && <span className="warned text-xs medium"> required</span>}
            </>
          ),
        },
        {
          title: 'Value for all rows',
          width: '38%',
          cell: ({ name, required }) => {
            const source = mapping[name]
            const gap = gaps.find((known) => known.field === name)
            return (
              <TextField
                aria-label={`${name} for all rows`}
                placeholder={required === 'always' ? 'type a value' : 'not sent'}
                value={source?.kind === 'template' ? source.template : ''}
                onValue={(next) => props.onMapping(assignTemplate(mapping, name, next))}
                error={required === 'always' && gap ? gap.message : undefined}
                spellCheck={false}
              />
            )
          },
        },
        { title: 'Description', className: 'quiet', cell: ({ note }) => <Sentence text={note} /> },
      ]}
      foot={
        <span className="quiet">
          {fields.length === 0 ? (
            'Every field has a column.'
          ) : (
            <>
              A value can hold <code>{'{{row}}'}</code>, <code>{'{{run}}'}</code> and{' '}
              <code>{'{{column name}}'}</code>, which are filled in for each row. <code>{'{{row}}'}</code> is
              the record number: 1 for the first row below the header.
            </>
          )}
        </span>
      }
    />
  )
}

/** The mapping in which a template fills `field`; an empty one takes the field out. */
export function assignTemplate(mapping: Mapping, field: string, template: string): Mapping {
  const next = { ...mapping }
  if (template === '') delete next[field]
  else next[field] = { kind: 'template', template }
  return next
}

import { fieldsFor, toColumnIndex } from '../../../shared/mapping/match-columns.ts'
import type { Operation } from '../../../shared/operations/operations.ts'
import type { Mapping } from '../../../shared/plan/plan.ts'
import { TextField } from '../../ui/fields.tsx'
import { Table } from '../../ui/table/table.tsx'
import { Sentence } from '../../ui/text/safe-text.tsx'
import styles from './mapping.module.css'

/** The fields that no column fills: required ones first, each with room for a constant or a template. */
export function FieldTable(props: {
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
          className: styles.column,
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

import { TextInput } from '@mantine/core'
import { fieldsFor, toColumnIndex } from '../../../shared/mapping/match-columns.ts'
import type { Mapping, Operation } from '../../../shared/plan/plan.ts'
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
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col" className={styles.column}>
            Field
          </th>
          <th scope="col" className={styles.value}>
            Value for all rows
          </th>
          <th scope="col">Description</th>
        </tr>
      </thead>
      <tbody>
        {fields.map((field) => {
          const source = mapping[field.name]
          const gap = gaps.find((known) => known.field === field.name)
          return (
            <tr key={field.name}>
              <th scope="row" className={styles.column}>
                {field.name}
                {field.required === 'always' && <span className={styles.required}> required</span>}
              </th>
              <td className={styles.value}>
                <TextInput
                  aria-label={`${field.name} for all rows`}
                  placeholder={field.required === 'always' ? 'type a value' : 'not sent'}
                  value={source?.kind === 'template' ? source.template : ''}
                  onChange={(event) =>
                    props.onMapping(assignTemplate(mapping, field.name, event.currentTarget.value))
                  }
                  error={field.required === 'always' && gap ? gap.message : undefined}
                  spellCheck={false}
                />
              </td>
              <td className={styles.about}>
                <Sentence text={field.note} />
              </td>
            </tr>
          )
        })}
      </tbody>
      <tfoot>
        <tr>
          <td colSpan={3} className={styles.about}>
            {fields.length === 0 ? (
              'Every field has a column.'
            ) : (
              <>
                A value can hold <code>{'{{row}}'}</code>, <code>{'{{run}}'}</code> and{' '}
                <code>{'{{column name}}'}</code>, which are filled in for each row. <code>{'{{row}}'}</code>{' '}
                is the record number: 1 for the first row below the header.
              </>
            )}
          </td>
        </tr>
      </tfoot>
    </table>
  )
}

/** The mapping in which a template fills `field`; an empty one takes the field out. */
export function assignTemplate(mapping: Mapping, field: string, template: string): Mapping {
  const next = { ...mapping }
  if (template === '') delete next[field]
  else next[field] = { kind: 'template', template }
  return next
}

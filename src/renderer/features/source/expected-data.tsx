import { isAsync, type Operation } from '../../../shared/plan/operation.ts'
import { fieldsOf } from '../../../shared/plan/operation-fields.ts'
import type { RequestField } from '../../../shared/service/request-field.ts'
import { Panel } from '../../ui/layout/panel.tsx'
import { Sentence } from '../../ui/text/sentence.tsx'
import styles from './source.module.css'

const NEED: Record<RequestField['required'], string> = {
  always: 'required',
  content: 'one of the two',
  never: 'if you have it',
}

/** What rows are not asked for: the receiver's address is the app's own, whole requests are for who knows. */
const UNSAID: readonly string[] = ['callback_url', 'request']

/** The data that is expected, before there is any: fields, which are needed, what they hold. */
export function ExpectedData({ operation }: { operation: Operation }) {
  const mode = isAsync(operation) ? 'async' : 'sync'
  const fields = fieldsOf(operation).filter(
    (field) => !UNSAID.includes(field.name) && (field.mode === 'both' || field.mode === mode),
  )
  return (
    <Panel title="Data that is expected" aside="Any column names will do: they are matched next" flush>
      <table className={styles.expected}>
        <tbody>
          {fields.map((field) => (
            <tr key={field.name}>
              <th scope="row">{field.name}</th>
              <td className={styles.need}>
                {field.name === 'post_id' ? 'made if missing' : NEED[field.required]}
              </td>
              <td>
                <Sentence text={field.note} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  )
}

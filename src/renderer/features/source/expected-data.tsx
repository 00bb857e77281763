import { TASK_FIELDS, type TaskField } from '../../../shared/service/tasks.ts'
import { Panel } from '../../ui/layout/panel.tsx'
import { Sentence } from '../../ui/text/sentence.tsx'
import styles from './source.module.css'

const NEED: Record<TaskField['required'], string> = {
  always: 'required',
  content: 'one of the two',
  never: 'if you have it',
}

/** The data that is expected, before there is any: fields, which are needed, what they hold. */
export function ExpectedData() {
  const fields: readonly TaskField[] = TASK_FIELDS
  return (
    <Panel title="Data that is expected" aside="Any column names will do: they are matched next" flush>
      <table className={styles.expected}>
        <tbody>
          {fields
            .filter((field) => field.mode !== 'async')
            .map((field) => (
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

import { Modal } from '@mantine/core'
import styles from './shell.module.css'

const KEYS: [does: string, ...keys: string[]][] = [
  ['The main action of a screen', 'Ctrl', 'Enter'],
  ['Next row, previous row', 'J', 'K'],
  ['Reveal the content of the row, or hide it', 'Space'],
  ['Open the row', 'Enter'],
  ['Search the results', '/'],
  ['First row, last row', 'Home', 'End'],
  ['Pause or resume the run', 'P'],
  ['Close what is open', 'Esc'],
  ['This list', '?'],
]

/** Every key that does something, in one list. */
export function KeysDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keys" closeButtonProps={{ 'aria-label': 'Close' }}>
      <table className={styles.keys}>
        <tbody>
          {KEYS.map(([does, ...keys]) => (
            <tr key={does}>
              <th scope="row">{does}</th>
              <td>
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Modal>
  )
}

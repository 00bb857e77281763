import { Group, Progress } from '@mantine/core'
import { IconTableImport } from '@tabler/icons-react'
import { formatBytes, formatCount, formatShare } from '../../../shared/messages/figure-text.ts'
import { fieldsOf, isAsync, type Operation } from '../../../shared/operations/operations.ts'
import { SOURCE_NAMES_TEXT } from '../../../shared/plan/source-formats.ts'
import type { RequestField } from '../../../shared/service/request-field.ts'
import type { UploadProgress } from '../../bridge/take-files.ts'
import { ActionButton, PrimaryButton } from '../../ui/controls.tsx'
import { Panel, Screen } from '../../ui/layout/screen.tsx'
import { Table } from '../../ui/table/table.tsx'
import { Sentence } from '../../ui/text/safe-text.tsx'
import styles from './source.module.css'

/** Shows that a file or a folder can be dropped, which the whole window takes, or chosen. */
export function DropZone(props: { onChoose: () => void; onChooseFolder: () => void }) {
  return (
    <div className={`stack items-center gap-2 bg-surface ${styles.drop}`}>
      <IconTableImport size="2.25rem" stroke={1.25} aria-hidden />
      <p className="text-lg bold">Drop spreadsheets or a folder</p>
      <Group gap="xs" align="stretch" wrap="nowrap">
        <PrimaryButton onPress={props.onChoose}>Choose a spreadsheet</PrimaryButton>
        <ActionButton label="Choose a folder" onClick={props.onChooseFolder} />
      </Group>
      <p className="max-w-text quiet">
        {SOURCE_NAMES_TEXT}, any size, any encoding; several are one run. Or a folder of tables, or of texts,
        JSON and media. Nothing is sent yet.
      </p>
    </div>
  )
}

/** How far a chosen file or folder is on its way to the engine. */
export function UploadScreen({ upload }: { upload: UploadProgress }) {
  const { sent, total, files } = upload
  return (
    <Screen title="Source" subtitle={files === undefined ? 'Uploading the file' : 'Uploading the folder'}>
      <Progress value={(sent / Math.max(1, total)) * 100} aria-label="Upload" />
      <p>
        {formatBytes(sent)} of {formatBytes(total)}, {formatShare(sent, total)}
        {files !== undefined && `; ${formatCount(files.sent)} of ${formatCount(files.total)} files`}
      </p>
    </Screen>
  )
}

const NEED: Record<RequestField['required'], string> = {
  always: 'required',
  content: 'one of these two',
  never: 'optional',
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
    <Panel title="Expected columns" aside="Any column names work; you match them next" flush>
      <Table
        className={styles.expected}
        hasNoHead
        rows={fields}
        toKey={({ name }) => name}
        columns={[
          { width: '12rem', cell: ({ name }) => name },
          {
            width: '11.5rem',
            cell: ({ name, required }) => (name === 'post_id' ? 'generated if missing' : NEED[required]),
          },
          { cell: ({ note }) => <Sentence text={note} /> },
        ]}
      />
    </Panel>
  )
}

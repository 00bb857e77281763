import { Group, Progress } from '@mantine/core'
import { IconArrowRight, IconTableImport, IconX } from '@tabler/icons-react'
import { keepPreviousData, skipToken, useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import { toShownError } from '../../../shared/bridge/errors.ts'
import type { BridgePreview, ChosenSource } from '../../../shared/bridge/source.ts'
import { fieldsFor } from '../../../shared/mapping/match-columns.ts'
import { formatBytes, formatCount, formatCounted, formatShare } from '../../../shared/messages/figure-text.ts'
import { sayRowsInKeys } from '../../../shared/messages/mapping-messages.ts'
import { type Operation, REQUEST_FIELD } from '../../../shared/operations/operations.ts'
import type { Mapping } from '../../../shared/plan/plan.ts'
import { getFormatTraits, SOURCE_NAMES_TEXT } from '../../../shared/plan/source-formats.ts'
import type { RequestField } from '../../../shared/service/request-field.ts'
import { ask } from '../../bridge/client.ts'
import type { UploadProgress } from '../../bridge/take-files.ts'
import { ContentSwitch } from '../../ui/content/user-content.tsx'
import { ActionButton, IconButton, PrimaryButton } from '../../ui/controls.tsx'
import { ErrorNotice, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText, Sentence } from '../../ui/text/safe-text.tsx'
import { labelEncoding } from './encodings.ts'
import {
  EncodingDoubt,
  HeaderChoice,
  HeaderDoubt,
  LinkChoice,
  MergedChoice,
  PreviewCounts,
  PreviewGrid,
  SheetChoiceNotice,
} from './preview.tsx'
import { type MediaSettings, PREVIEW_ROWS, type Reading } from './reading.ts'
import styles from './source.module.css'
import { MediaControls, SourceControls } from './source-controls.tsx'

/** The source and its reading, with a preview that follows changes of sheet, encoding, delimiter, header. */
export function SourceScreen(props: {
  source: ChosenSource | null
  upload: UploadProgress | null
  reading: Reading
  media: MediaSettings
  /** Base URL of the service; null for the sandbox. */
  serviceUrl: string | null
  operation: Operation
  mapping: Mapping
  /** The purpose of the rows, with a control to change it. */
  strip: ReactNode
  /** What prevents the check of the rows besides the source itself; null if nothing. */
  todo: string | null
  busy: boolean
  /** Asks for a file, in whichever dialog is available. */
  onChoose: () => void
  onChooseFolder: () => void
  onSandbox: () => void
  onReading: (reading: Reading) => void
  onMapping: (mapping: Mapping) => void
  onMedia: (media: MediaSettings) => void
  onLeaveOut: (index: number) => Promise<void>
  onPreview: (preview: BridgePreview) => void
  onContinue: () => void
}) {
  const { source, upload, reading, onPreview } = props
  const preview = useQuery(
    ask.source.preview.queryOptions({
      input:
        source === null
          ? skipToken
          : { source: { sourceId: source.sourceId, ...reading }, limit: PREVIEW_ROWS },
      placeholderData: keepPreviousData,
    }),
  )
  const data = preview.data ?? null
  useEffect(() => {
    if (data !== null) onPreview(data)
  }, [data, onPreview])

  if (upload !== null) return <UploadScreen upload={upload} />
  if (source === null) {
    return (
      <Screen
        title="Source"
        subtitle="The rows to send"
        actions={
          props.operation.kind === 'task' && (
            <ActionButton label="Use the sandbox’s sample" onClick={props.onSandbox} />
          )
        }
      >
        {props.strip}
        <DropZone onChoose={props.onChoose} onChooseFolder={props.onChooseFolder} />
        <ExpectedData operation={props.operation} />
      </Screen>
    )
  }
  const blocked =
    (preview.error !== null ? toShownError(preview.error).message : null) ??
    (data === null
      ? 'The source is being read'
      : data.rows.length === 0
        ? 'The source has no rows'
        : undefined) ??
    props.todo ??
    undefined
  return (
    <Screen
      title="Source"
      subtitle={
        <>
          <SafeText text={source.name} max={80} />
          {data !== null &&
            `, ${formatBytes(data.sizeBytes)}, ${formatCounted(data.columns.length, 'column')}`}
        </>
      }
      fixed
      actions={
        <>
          <ActionButton label="Choose other files" onClick={props.onChoose} />
          <ActionButton label="Choose a folder" onClick={props.onChooseFolder} />
          <PrimaryButton
            onPress={props.onContinue}
            busy={props.busy}
            blocked={blocked}
            icon={<IconArrowRight size="1rem" />}
          >
            Continue
          </PrimaryButton>
        </>
      }
    >
      <div className="stack flex-1 min-w-0 min-h-0">
        <div className={`flex-none grid gap-3 border-b ${styles.strip}`}>
          {props.strip}
          <SourceControls reading={reading} preview={data} onReading={props.onReading} />
          {data?.format === 'folder' && (
            <MediaControls media={props.media} serviceUrl={props.serviceUrl} onMedia={props.onMedia} />
          )}
          {data?.files !== undefined && <FileList files={data.files} onLeaveOut={props.onLeaveOut} />}
          {data !== null && (
            <EncodingDoubt
              preview={data}
              onEncoding={(encoding) => props.onReading({ ...reading, encoding })}
            />
          )}
          {data !== null && (
            <Group gap="var(--space-2) var(--space-4)" justify="space-between">
              <PreviewCounts preview={data} />
              <ContentSwitch />
            </Group>
          )}
          {data !== null && reading.sheet === undefined && (
            <SheetChoiceNotice preview={data} onUse={(sheet) => props.onReading({ ...reading, sheet })} />
          )}
          {data !== null && (
            <HeaderDoubt
              preview={data}
              operation={props.operation}
              headerRow={reading.headerRow}
              onRow={() => props.onReading({ ...reading, header: false })}
            />
          )}
          {data?.rowsInKeys !== undefined && (data.rows.length < 2 || data.columns.length < 2) && (
            <Notice kind="warning" title="The rows may be inside a key">
              <Sentence text={sayRowsInKeys(data.rowsInKeys, 'window')} />
            </Notice>
          )}
          {data?.likelyHeaderRow !== undefined && (
            <HeaderChoice
              row={data.likelyHeaderRow}
              file={data.files?.[0]?.name}
              onUse={() => props.onReading({ ...reading, headerRow: data.likelyHeaderRow ?? 1 })}
            />
          )}
          {data !== null && (
            <MergedChoice preview={data} onUse={(merged) => props.onReading({ ...reading, merged })} />
          )}
          {data !== null && (
            <LinkChoice
              preview={data}
              operation={props.operation}
              mapping={props.mapping}
              onMapping={props.onMapping}
            />
          )}
          {preview.error !== null && <ErrorNotice error={preview.error} onRetry={preview.refetch} />}
        </div>
        {data !== null && (
          <div className={`flex-1 min-h-0 flex ${styles.grid}`} aria-busy={preview.isFetching}>
            <PreviewGrid preview={data} operation={props.operation} mapping={props.mapping} />
          </div>
        )}
      </div>
    </Screen>
  )
}

type FileHead = NonNullable<BridgePreview['files']>[number]

/** The files of a source with several, each with how it is read, and a button to leave it out. */
function FileList(props: { files: readonly FileHead[]; onLeaveOut: (index: number) => Promise<void> }) {
  const leaveOut = useMutation({ mutationFn: props.onLeaveOut })
  return (
    <section aria-label="Files" className={`quiet ${styles.files}`}>
      <p>{formatCounted(props.files.length, 'file')}, one after the other; columns are matched by name.</p>
      <ul>
        {props.files.map((file, index) => (
          <li key={file.name}>
            <SafeText text={file.name} max={80} />
            <span className="small">{describeFile(file)}</span>
            <IconButton
              icon={IconX}
              variant="subtle"
              size="sm"
              label={`Leave out ${file.name}`}
              disabled={leaveOut.isPending}
              onClick={() => leaveOut.mutate(index)}
            />
          </li>
        ))}
      </ul>
      {leaveOut.error !== null && <ErrorNotice error={leaveOut.error} />}
    </section>
  )
}

function describeFile({ format, sizeBytes, encoding, encodingReadings, sheet, rows }: FileHead): string {
  const facts = [
    getFormatTraits(format).name,
    encoding === '' ? '' : `${labelEncoding(encoding)}${encodingReadings === undefined ? '' : ', uncertain'}`,
    sheet === null ? '' : `sheet ${sheet}`,
    rows === undefined ? '' : `${rows.isExact ? '' : 'about '}${formatCounted(rows.count, 'row')}`,
    formatBytes(sizeBytes),
  ]
  return facts.filter((fact) => fact !== '').join(', ')
}

/** Says that a file or a folder can be chosen, or dropped anywhere in the window. */
function DropZone(props: { onChoose: () => void; onChooseFolder: () => void }) {
  return (
    <div className={`stack items-center gap-2 rounded-large bg-surface ${styles.drop}`}>
      <IconTableImport size="2.25rem" stroke={1.25} className="quiet" aria-hidden />
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

function UploadScreen({ upload }: { upload: UploadProgress }) {
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

/** The expected data, before there is a source: fields, whether they are required, what they contain. */
function ExpectedData({ operation }: { operation: Operation }) {
  // Few people send whole requests, so they are not offered here.
  const fields = fieldsFor(operation).filter((field) => field !== REQUEST_FIELD)
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

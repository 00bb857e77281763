import { ActionIcon } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import type { BridgePreview } from '../../../shared/bridge/source.ts'
import { formatBytes, formatCounted } from '../../../shared/messages/figure-text.ts'
import { getFormatTraits } from '../../../shared/plan/source-formats.ts'
import { ErrorNotice } from '../../ui/layout/notice.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { labelEncoding } from './encodings.ts'
import styles from './source.module.css'

type FileHead = NonNullable<BridgePreview['files']>[number]

/** The files of a source that has several, each with how it is read, and a way to leave it out. */
export function FileList(props: {
  files: readonly FileHead[]
  onLeaveOut: (index: number) => Promise<void>
}) {
  const leaveOut = useMutation({ mutationFn: props.onLeaveOut })
  return (
    <section aria-label="Files" className={`quiet ${styles.files}`}>
      <p>{formatCounted(props.files.length, 'file')}, one after the other; columns are matched by name.</p>
      <ul>
        {props.files.map((file, index) => (
          <li key={file.name}>
            <SafeText text={file.name} max={80} />
            <span className="small">{describeFile(file)}</span>
            <ActionIcon
              variant="subtle"
              size="sm"
              aria-label={`Leave out ${file.name}`}
              disabled={leaveOut.isPending}
              onClick={() => leaveOut.mutate(index)}
            >
              <IconX size="1rem" aria-hidden />
            </ActionIcon>
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

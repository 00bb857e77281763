import { type ReactNode, useState } from 'react'
import type { BridgePreview } from '../../../shared/bridge/source.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import type { EncodingReading } from '../../../shared/run/results.ts'
import { MaskedText, useContentShown, useOnHideAll } from '../../ui/content/user-content.tsx'
import { ActionButton } from '../../ui/controls.tsx'
import { Notice } from '../../ui/layout/screen.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { labelEncoding } from './encodings.ts'
import styles from './source.module.css'

/** Files whose words are shown. */
const FILES_SHOWN = 3

/**
 * Shows how the same words read in each encoding that a source may be in, and takes the one that reads right. Of
 * several files it only shows them, since an encoding that is chosen holds for all. Nothing without a doubt.
 */
export function EncodingDoubt(props: { preview: BridgePreview; onEncoding: (encoding: string) => void }) {
  const { encodingReadings, files } = props.preview
  if (files !== undefined) return <DoubtOfFiles files={files} />
  if (encodingReadings === undefined) return null
  return (
    <DoubtNotice title="The encoding is uncertain">
      {(revealed) => (
        <>
          <p>
            The same words in each encoding that the file may be in. Use the one in which they read right.
          </p>
          <ul className={`grid items-center p-0 ${styles.readings}`}>
            {encodingReadings.map((one) => (
              <li key={one.encoding} className="contents">
                <ActionButton
                  label={`Use ${labelEncoding(one.encoding)}`}
                  small
                  onClick={() => props.onEncoding(one.encoding)}
                />
                <span>
                  <MaskedText text={one.sample} revealed={revealed} />
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </DoubtNotice>
  )
}

function DoubtOfFiles({ files }: { files: NonNullable<BridgePreview['files']> }) {
  const doubtful = files.flatMap(({ name, encodingReadings }) =>
    encodingReadings === undefined ? [] : [{ name, readings: encodingReadings }],
  )
  if (doubtful.length === 0) return null
  const more = doubtful.length - FILES_SHOWN
  return (
    <DoubtNotice title={`Uncertain encoding of ${formatCounted(doubtful.length, 'file')}`}>
      {(revealed) => (
        <>
          {doubtful.slice(0, FILES_SHOWN).map(({ name, readings }) => (
            <FileReadings key={name} name={name} readings={readings} revealed={revealed} />
          ))}
          {more > 0 && <p>and {formatCounted(more, 'more file', 'more files')}</p>}
          <p>
            The first is the one that is used. An encoding that you choose above holds for all files. If they
            differ, save the uncertain ones as UTF-8.
          </p>
        </>
      )}
    </DoubtNotice>
  )
}

function FileReadings(props: { name: string; readings: readonly EncodingReading[]; revealed: boolean }) {
  return (
    <>
      <SafeText text={props.name} max={80} />
      <ul className={`grid items-center p-0 ${styles.readings}`}>
        {props.readings.map(({ encoding, sample }) => (
          <li key={encoding} className="contents">
            <span className="small">{labelEncoding(encoding)}</span>
            <span>
              <MaskedText text={sample} revealed={props.revealed} />
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}

/** The words are masked like all content; showing them here shows nothing else. */
function DoubtNotice(props: { title: string; children: (revealed: boolean) => ReactNode }) {
  const shown = useContentShown()
  const [isRevealed, setRevealed] = useState(false)
  useOnHideAll(() => setRevealed(false))
  return (
    <Notice
      kind="warning"
      title={props.title}
      actions={
        !shown && (
          <ActionButton
            label={isRevealed ? 'Hide the words' : 'Show the words'}
            onClick={() => setRevealed(!isRevealed)}
          />
        )
      }
    >
      {props.children(shown || isRevealed)}
    </Notice>
  )
}

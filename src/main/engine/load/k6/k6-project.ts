import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { describeLoad } from '../../../../shared/load/load.ts'
import { isOpen } from '../../../../shared/load/load-pace.ts'
import { toLoadTarget } from '../../../../shared/load/load-target.ts'
import { formatDurationMs } from '../../../../shared/messages/duration.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { formatCounted } from '../../../../shared/messages/figure-text.ts'
import type { ExportResult } from '../../../../shared/run/written-rows.ts'
import { type Body, writeBody } from '../../mapping/json-text.ts'
import { refuseForeignLinks } from '../../workspace/foreign-links.ts'
import { checkTarget, toFileError } from '../../workspace/replace-file.ts'
import {
  formatK6Script,
  type K6Plan,
  type K6RowsFile,
  listK6HeaderVariables,
  SCRIPT_BEGINNING,
} from './k6-script.ts'
import { toK6Thresholds } from './k6-thresholds.ts'

export interface K6Project {
  /** Folder to write. An earlier export's files are replaced; k6 results next to them stay. */
  folder: string
  plan: K6Plan
  appVersion: string
  /** Bodies of the rows to send, in order, page by page. */
  bodies: Iterable<readonly K6Body[]> | AsyncIterable<readonly K6Body[]>
  /** Largest file of rows (default: 4 MiB). */
  rowsFileMaxBytes?: number
}

const SCRIPT = 'script.js'
const ROWS_FILE = /^rows-\d{3,}\.json$/

/**
 * Writes a plan's load as a k6 project: script, rows, k6-operator manifest, README. Its files replace an
 * earlier project's once all are written. Throws `BAD_USAGE` without a row or for a folder that holds
 * something else; `FILE_UNWRITABLE` or `DISK_FULL`.
 */
export async function writeK6Project(project: K6Project): Promise<ExportResult> {
  const folder = resolve(project.folder)
  const temporary = join(dirname(folder), `.${basename(folder)}.${randomBytes(6).toString('hex')}.part`)
  try {
    refuseForeignLinks(folder)
    await refuseForeign(folder)
    await mkdir(temporary)
    const result = await writeFiles(temporary, project)
    await moveInto(folder, temporary)
    return { ...result, file: project.folder }
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    throw toFileError(project.folder, error)
  }
}

/** Throws as {@link writeK6Project} would if it could not write to the folder. Changes nothing. */
export async function checkK6Folder(named: string): Promise<void> {
  const folder = resolve(named)
  try {
    refuseForeignLinks(folder)
    await refuseForeign(folder)
    await checkTarget(join(dirname(folder), `.${basename(folder)}.part`))
  } catch (error) {
    throw error instanceof SluiceError && error.said.id === 'file_unwritable'
      ? new SluiceError({ ...error.said, file: named }, { cause: error })
      : toFileError(named, error)
  }
}

async function writeFiles(folder: string, project: K6Project): Promise<Omit<ExportResult, 'file'>> {
  const { plan, appVersion } = project
  const rows = await writeRows(folder, project)
  if (rows.files.length === 0) {
    throw new SluiceError({ id: 'k6_without_rows' })
  }
  const script = formatK6Script(plan, rows.files, appVersion)
  const isConfigMap = rows.sizeBytes + Buffer.byteLength(script) <= CONFIG_MAP_MAX_BYTES
  const texts = {
    [SCRIPT]: script,
    'testrun.yaml': formatK6Manifest(plan, isConfigMap),
    'README.md': formatK6Readme(plan, rows.files, { isConfigMap, appVersion }),
  }
  let sizeBytes = rows.sizeBytes
  for (const [name, text] of Object.entries(texts)) {
    await writeFile(join(folder, name), text)
    sizeBytes += Buffer.byteLength(text)
  }
  return { rows: rows.files.reduce((sum, file) => sum + file.rows, 0), sizeBytes }
}

const BUFFERED_CHARACTERS = 256 * 1024

async function writeRows(
  folder: string,
  { bodies, rowsFileMaxBytes = ROWS_FILE_MAX_BYTES }: K6Project,
): Promise<{ files: K6RowsFile[]; sizeBytes: number }> {
  const files: K6RowsFile[] = []
  let sizeBytes = 0
  let handle: Awaited<ReturnType<typeof open>> | null = null
  let buffered = ''
  try {
    for await (const { text, rows, isEnd } of toRowsPieces(bodies, rowsFileMaxBytes)) {
      const name = `rows-${String(files.length + 1).padStart(3, '0')}.json`
      handle ??= await open(join(folder, name), 'wx')
      buffered += text
      if (!isEnd && buffered.length < BUFFERED_CHARACTERS) continue
      const bytes = Buffer.from(buffered)
      buffered = ''
      await handle.writeFile(bytes)
      sizeBytes += bytes.length
      if (!isEnd) continue
      await handle.close()
      handle = null
      files.push({ name, rows })
    }
  } finally {
    await handle?.close()
  }
  return { files, sizeBytes }
}

async function listNames(folder: string): Promise<string[] | null> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
}

/** Replaces nothing but an earlier project: a folder given by mistake may hold anything. */
async function refuseForeign(folder: string): Promise<void> {
  const [name] = (await listNames(folder)) ?? []
  if (name === undefined) return
  const script = await readFile(join(folder, SCRIPT), 'utf8').catch(() => '')
  if (script.startsWith(SCRIPT_BEGINNING)) return
  throw new SluiceError({ id: 'k6_folder_in_use', folder, holds: name })
}

async function moveInto(folder: string, written: string): Promise<void> {
  const before = await listNames(folder)
  if (before === null) return rename(written, folder)
  const names = await readdir(written)
  // The script last: until then the folder still holds the earlier project.
  for (const name of names.toSorted((a, b) => Number(a === SCRIPT) - Number(b === SCRIPT))) {
    await rename(join(written, name), join(folder, name))
  }
  for (const name of before) {
    if (ROWS_FILE.test(name) && !names.includes(name)) await rm(join(folder, name))
  }
  await rm(written, { recursive: true })
}

/** A row's body as the mapper made it. */
export type K6Body = Readonly<Body>

/** Placeholder for the post_id while a body is written; no content contains it by chance. */
const POST_ID_MARK = '\u0001sluice-post-id\u0001'

const WRITTEN_MARK = JSON.stringify(POST_ID_MARK).slice(1, -1)

/** The JSON of a body in two parts. A submission's post_id goes between them and replaces the row's own. */
export function splitAtPostId(body: K6Body): [head: string, tail: string] {
  const text = writeBody({ ...body, post_id: POST_ID_MARK })
  const at = text.lastIndexOf(WRITTEN_MARK)
  return [text.slice(0, at), text.slice(at + WRITTEN_MARK.length)]
}

/** Largest rows file, since k6 reads each whole. A small source then fits one configMap with its script. */
const ROWS_FILE_MAX_BYTES = 4 * 1024 * 1024

/** A piece of a rows file: text to append, and whether the file ends with it. */
export interface RowsPiece {
  text: string
  rows: number
  isEnd: boolean
}

/** Splits rows into JSON arrays of at most `maxBytes` each (a larger row gets its own), one piece per row. */
export async function* toRowsPieces(
  pages: Iterable<readonly K6Body[]> | AsyncIterable<readonly K6Body[]>,
  maxBytes = ROWS_FILE_MAX_BYTES,
): AsyncGenerator<RowsPiece> {
  let sizeBytes = 0
  let rows = 0
  for await (const page of pages) {
    for (const body of page) {
      const row = JSON.stringify(splitAtPostId(body))
      const rowBytes = Buffer.byteLength(row) + 2
      if (rows > 0 && sizeBytes + rowBytes > maxBytes) {
        yield { text: '\n]\n', rows, isEnd: true }
        sizeBytes = 0
        rows = 0
      }
      yield { text: `${rows === 0 ? '[\n' : ',\n'}${row}`, rows, isEnd: false }
      sizeBytes += rowBytes
      rows += 1
    }
  }
  if (rows > 0) yield { text: '\n]\n', rows, isEnd: true }
}

/** The README of a k6 project: how to run it on one machine or many, and where k6 differs. */
function formatK6Readme(
  plan: K6Plan,
  files: readonly K6RowsFile[],
  options: { isConfigMap: boolean; appVersion: string },
): string {
  const { connection, load } = plan
  const { baseUrl, path } = toLoadTarget(plan)
  const key = connection.apiKeyEnv
  const rows = files.reduce((sum, file) => sum + file.rows, 0)
  const pin = load.httpVersion === '1.1' && baseUrl.startsWith('https:') ? 'GODEBUG=http2client=0 ' : ''
  return `# A load test for k6

Written by Sluice ${options.appVersion}: ${formatCounted(rows, 'row')} to ${baseUrl}${path}.

${describeLoad(load, connection.timeoutMs)
  .map((line) => `- ${line}`)
  .join('\n')}

| file | holds |
|---|---|
| \`script.js\` | the test: scenarios, thresholds, what is sent |
${files.map((file) => `| \`${file.name}\` | ${formatCounted(file.rows, 'row')}, bodies as they are sent |`).join('\n')}
| \`testrun.yaml\` | the same for k6-operator, on many machines |

The rows hold the content that is sent. The API key is in no file: it is read from \`${key}\`.

## On this machine

\`\`\`sh
export ${key}=…
${pin}k6 run script.js
sluice import-k6 summary.json
\`\`\`

Where Sluice runs from its sources, that is \`npm --prefix FOLDER run -s sluice -- import-k6 "$PWD/summary.json"\`, with the
folder of the sources. \`--of RUN\` names the run that this project came from.

k6 exits with 99 where a threshold is crossed. For every sample rather than percentiles alone:
\`k6 run --out json=samples.json.gz script.js\`, then \`sluice import-k6 samples.json.gz\`.

| variable | says |
|---|---|
| \`${key}\` | the API key |
| \`SLUICE_BASE_URL\` | another deployment than ${baseUrl} |
| \`SLUICE_SUMMARY_FILE\`, \`SLUICE_SUMMARY_DIR\` | where the results go: a file, or a folder that gets one for each machine |
${listVariables(plan).join('\n')}

## On many machines

With [k6-operator](https://github.com/grafana/k6-operator) in the cluster${options.isConfigMap ? '' : `, and a volumeClaim \`${K6_NAMES.test}\` that holds \`script.js\` and the rows`}, and a volumeClaim \`${K6_NAMES.results}\` that every pod may write to:

\`\`\`sh
${listK6Commands(plan, files, options.isConfigMap).join('\n')}
\`\`\`

Set \`parallelism\` in \`testrun.yaml\` to the number of machines: k6 divides rates and users among them. Each judges
its own part alone, so thresholds on counts and on requests a second hold or not for that part. Every pod writes its
samples to a file of its own; \`sluice import-k6 samples-*.json.gz\` puts them together.

## What k6 does otherwise

${listDifferences(plan)
  .map((line) => `- ${line}`)
  .join('\n')}
`
}

function listVariables({ connection, load }: K6Plan): string[] {
  return [
    ...(load.httpVersion === '1.1'
      ? ['| `GODEBUG` | `http2client=0` keeps k6 to HTTP/1.1, which the plan asks for |']
      : []),
    ...listK6HeaderVariables(connection.headers).map(
      ([variable, header]) => `| \`${variable}\` | the value of the header ${header} |`,
    ),
    ...(connection.tls?.caFile === undefined
      ? []
      : ['| `SSL_CERT_FILE` | a PEM file of the certificate authorities to trust |']),
    ...(connection.tls?.certFile === undefined
      ? []
      : [
          "| `SLUICE_CLIENT_CERT`, `SLUICE_CLIENT_KEY` | PEM files of the client's certificate and its key |",
        ]),
    ...(connection.proxy === undefined
      ? []
      : ['| `HTTPS_PROXY`, `HTTP_PROXY` | the proxy, with user name and password where it asks for them |']),
  ]
}

function listDifferences(plan: K6Plan): string[] {
  const { operation, load, connection } = plan
  const { leftOut } = toK6Thresholds(load, toLoadTarget(plan).path)
  const isAsync = operation.kind === 'task' && operation.mode === 'async'
  return [
    ...(isOpen(load.pace) && load.whenFull === 'wait'
      ? [
          'A due request that finds no virtual user free is dropped and counted in `dropped_iterations`; in Sluice it waits, and its wait counts in response_time. k6 does not measure how late it starts.',
        ]
      : []),
    ...(leftOut.length === 0
      ? []
      : [`k6 has no metric or tag for ${leftOut.map((one) => `\`${one}\``).join(', ')}: left out.`]),
    ...(load.order === 'source'
      ? []
      : [
          `Rows are sent in their order: k6 does not draw what the plan draws (${load.order}, seed ${load.seed}).`,
        ]),
    ...(load.warmupMs > 0
      ? [
          `The warm-up of ${formatDurationMs(load.warmupMs)} is a scenario of its own. Figures without \`{scenario:main}\` hold it, too; those with it do not.`,
        ]
      : []),
    ...(isAsync
      ? [
          'k6 cannot receive callbacks: what is measured is the acknowledgement. Rows keep a callback_url of their own.',
        ]
      : []),
    ...(connection.unixSocket === undefined
      ? []
      : ['k6 cannot connect to a unix socket: it connects to the host of the URL.']),
    "k6 judges by the status in `http_req_failed`. The script's own `not_succeeded` also counts errors inside a 200, answers without a task's result, and answers to another post_id, as Sluice does. Sluice also compares `user_id`, and ids deeper inside an answer.",
    'Nothing is repeated, and Retry-After is not waited for.',
    'A number of requests of an open pace is a duration for k6, and thresholds on requests a second are counts over the measured time.',
  ]
}

/** Most bytes that a configMap can hold (Kubernetes). */
const CONFIG_MAP_MAX_BYTES = 1024 * 1024

/** Names of the objects in the cluster. */
const K6_NAMES = {
  test: 'sluice-load',
  secret: 'sluice-api-key',
  results: 'sluice-load-results',
} as const

/** Where results are written inside a pod. */
const RESULTS_FOLDER = '/results'

/**
 * A TestRun of k6-operator. Script and rows become a configMap if they fit, otherwise a volumeClaim. Every
 * pod writes its samples to its own file, and reading merges the files: percentiles of pods cannot be merged.
 */
function formatK6Manifest(plan: K6Plan, isConfigMap: boolean): string {
  const { connection, load } = plan
  const { test, secret, results } = K6_NAMES
  const isPinned = load.httpVersion === '1.1'
  return `apiVersion: k6.io/v1alpha1
kind: TestRun
metadata:
  name: ${test}
spec:
  parallelism: 2
  script:
    ${isConfigMap ? 'configMap' : 'volumeClaim'}:
      name: ${test}
      file: script.js
  runner:
    env:
      - name: ${connection.apiKeyEnv}
        valueFrom:
          secretKeyRef:
            name: ${secret}
            key: key
      - name: POD_NAME
        valueFrom:
          fieldRef:
            fieldPath: metadata.name
      - name: K6_OUT
        value: json=${RESULTS_FOLDER}/samples-$(POD_NAME).json.gz
      - name: SLUICE_SUMMARY_DIR
        value: ${RESULTS_FOLDER}
${isPinned ? `      - name: GODEBUG\n        value: http2client=0\n` : ''}    volumes:
      - name: results
        persistentVolumeClaim:
          claimName: ${results}
    volumeMounts:
      - name: results
        mountPath: ${RESULTS_FOLDER}
`
}

/** The commands that put a project into a cluster and start it. */
function listK6Commands(plan: K6Plan, files: readonly K6RowsFile[], isConfigMap: boolean): string[] {
  const { test, secret } = K6_NAMES
  const parts = ['script.js', ...files.map(({ name }) => name)].map((name) => `--from-file=${name}`)
  return [
    `kubectl create secret generic ${secret} --from-literal=key="$${plan.connection.apiKeyEnv}"`,
    ...(isConfigMap ? [`kubectl create configmap ${test} ${parts.join(' ')}`] : []),
    'kubectl apply -f testrun.yaml',
  ]
}

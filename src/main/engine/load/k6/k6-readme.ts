import { describeLoad } from '../../../../shared/load/load.ts'
import { isOpen } from '../../../../shared/load/load-pace.ts'
import { formatDurationMs } from '../../../../shared/messages/duration.ts'
import { formatCounted } from '../../../../shared/messages/figure-text.ts'
import { K6_NAMES, listK6Commands } from './k6-manifest.ts'
import { type K6Plan, type K6RowsFile, toK6Target } from './k6-script.ts'
import { toK6Thresholds } from './k6-thresholds.ts'

/** The page next to a k6 project: how it is run, on one machine and on many, and what k6 does otherwise. */
export function formatK6Readme(
  plan: K6Plan,
  files: readonly K6RowsFile[],
  options: { isConfigMap: boolean; appVersion: string },
): string {
  const { connection, load } = plan
  const { baseUrl, path } = toK6Target(plan)
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

function listDifferences({ operation, load }: K6Plan): string[] {
  const { leftOut } = toK6Thresholds(load)
  const isAsync = operation.kind === 'task' && operation.mode === 'async'
  return [
    ...(isOpen(load.pace) && load.whenFull === 'wait'
      ? [
          'A due request that finds no virtual user free is dropped and counted in `dropped_iterations`; in Sluice it waits, and its wait counts in response_time. k6 does not measure how late it starts.',
        ]
      : []),
    ...(leftOut.length === 0
      ? []
      : [`k6 has no metric for ${leftOut.map((one) => `\`${one}\``).join(', ')}: left out.`]),
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
    "k6 goes by the status in `http_req_failed`; `not_succeeded` is the script's own, and counts errors inside a 200, too, as Sluice does.",
    'Nothing is repeated, and Retry-After is not waited for.',
    'A number of requests of an open pace is a duration for k6, and thresholds on requests a second are counts over the measured time.',
  ]
}

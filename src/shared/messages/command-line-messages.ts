import { type ErrorEntry, ofCode, ofFailure } from './error-entry.ts'
import { formatCounted } from './figure-text.ts'
import { sayPortProblem, type Thrown } from './thrown.ts'

/** Files that `--out` cannot write to, besides the source. */
const FILE_USES = {
  plan: 'the plan file',
  saved_plan: 'the file of --save-plan',
  export: 'the file of --export',
  out: 'named by another --out',
  certificate: 'a certificate or key of the connection',
  header: 'the value of a header',
} as const

export type FileUse = keyof typeof FILE_USES

/** The command that refused its arguments, such as `runs prune`; absent if no command is named. */
interface Refused {
  command?: string
}

function sayHelp({ command = '' }: Refused, sluice: string): string {
  return command === ''
    ? `To list the commands, run: ${sluice} --help`
    : `To list its options, run: ${sluice} ${command} --help`
}

/** Errors of the command line alone: its arguments, its plan files, its questions. */
export const COMMAND_LINE_MESSAGES = {
  ...ofCode('BAD_USAGE', {
    arguments_refused: ({ reason, ...refused }: Refused & { reason: string }, sluice: string) => ({
      text: reason,
      remedy: sayHelp(refused, sluice),
    }),
    options_in_conflict: (
      { conflicts, ...refused }: Refused & { conflicts: readonly string[] },
      sluice: string,
    ) => ({
      text: conflicts.length === 1 ? (conflicts[0] ?? '') : `${conflicts.length} invalid options`,
      causes: conflicts.length === 1 ? [] : conflicts,
      remedy: sayHelp(refused, sluice),
    }),
    mapping_of_other_operation: ({ name, operation }: { name: string; operation: string }) => ({
      text: `the saved mapping ${name} fills the fields of ${operation}`,
      remedy: 'Choose a mapping of this operation, or map the columns with --map.',
    }),
    last_mapping_missing: ({ file }: { file: string }) => ({
      text: `none of the newest runs has sent a source with the columns of ${file}`,
      remedy: 'Map the columns with --map, or choose a saved mapping.',
    }),
    base_url_missing: (_args: object, sluice: string) => ({
      text: 'the address of the service is missing',
      remedy: `Pass --base-url URL or --connection NAME. To try Sluice without an account, start a local test service: ${sluice} sandbox`,
    }),
    production_unconfirmed: ({ connection }: { connection: string }) => ({
      text: `connection ${connection} is marked as production, so sending to it needs a confirmation`,
      remedy: 'To confirm, add --yes. Nothing was sent.',
    }),
    prune_unlimited: (_: object, sluice: string) => ({
      text: 'no limit was given, and none is stored in the workspace',
      remedy: `Add --older-than 30d, --larger-than 1GB or --keep-below 10GB, or store limits: ${sluice} runs retention --older-than 30d`,
    }),
    delete_unconfirmed: ({ what, runId }: { what: string; runId: string }, sluice: string) => ({
      text: `deleting ${what} needs a confirmation`,
      remedy: `To confirm, run: ${sluice} delete ${runId} --yes`,
    }),
    save_plan_over_other: ({ file }: { file: string }) => ({
      text: `--save-plan: ${file} exists and is not a plan file`,
      remedy: 'Choose another file name.',
    }),
    metrics_port_unusable: ({ host, port, ...thrown }: Thrown & { host: string; port: number }) => ({
      text: `--metrics-port: cannot listen on ${host}:${port}: ${sayPortProblem(thrown)}`,
      remedy: 'Choose another port, or 0 for a free one. Nothing was sent.',
    }),
    limit_of_load: () => ({
      text: '--limit does not apply to load tests, which repeat their rows',
      remedy: 'Remove --limit. To send each row once, use the command of the operation, such as task.',
    }),
    metrics_without_load: ({ flag }: { flag: string }) => ({
      text: `${flag} only works with load tests`,
      remedy: `Remove ${flag}, or run a load test plan.`,
    }),
    metrics_port_missing: ({ flag }: { flag: string }) => ({
      text: `${flag} only works with --metrics-port`,
      remedy: 'Add --metrics-port, such as --metrics-port 9100.',
    }),
    out_over_source: ({ file }: { file: string }) => ({
      text: `--out: ${file} is the source, or in its folder`,
      remedy: 'Choose another file name. Nothing was sent.',
    }),
    out_over_file: ({ file, use }: { file: string; use: FileUse }) => ({
      text: `--out: ${file} is ${FILE_USES[use]}`,
      remedy: 'Choose another file name. Nothing was sent.',
    }),
    out_unwritable: ({ file, reason }: Thrown & { file: string }) => ({
      text: `--out: cannot write ${file}: ${reason}`,
      remedy: 'Check that its folder exists and can be written to. Nothing was sent.',
    }),
    otlp_incomplete: ({ url, reason }: { url: string; reason: string }) => ({
      text: `--out: the figures did not all arrive at ${url}: ${reason}`,
      remedy: 'Check that an OTLP receiver for HTTP listens there. The load test itself is whole.',
    }),
    out_cut_off: ({ file, reason }: Thrown & { file: string }) => ({
      text: `--out: ${file} is incomplete: ${reason}`,
      remedy: 'The load test itself is whole; its seconds can be exported to a .csv file.',
    }),
    row_of_load: ({ runId }: { runId: string }, sluice: string) => ({
      text: `run ${runId} is a load test, which has no results per row`,
      remedy: `To see its sampled requests, run: ${sluice} export ${runId} samples.jsonl`,
    }),
  }),
  ...ofCode('NOT_CONFIRMED', {
    resend_unconfirmed: () => ({
      text: '--on-unknown resend may add items to the index twice',
      remedy: 'To accept that, add --resend-index-adds. Otherwise remove --on-unknown. Nothing was sent.',
    }),
    prune_unconfirmed: ({ runs }: { runs: number }) => ({
      text: `${formatCounted(runs, 'run')} would be deleted permanently`,
      remedy: 'Nothing was deleted. To confirm, add --yes. To list them, add --dry-run.',
    }),
    wipe_unconfirmed: ({ workspace, runs }: { workspace: string; runs: number }) => ({
      text: `${formatCounted(runs, 'run')} and everything else recorded in ${workspace} would be deleted permanently`,
      remedy: 'Nothing was deleted. To confirm, add --yes.',
    }),
  }),
  ...ofCode('BAD_SOURCE', {
    again_source_missing: ({ source, runId }: { source: string; runId: string }) => ({
      text: `${source}, the source of run ${runId}, does not exist`,
      remedy: 'Put the file back, or name another with --source FILE.',
    }),
    again_source_changed: ({ reason }: { reason: string }) => ({
      text: reason,
      remedy: 'Nothing was sent. To send the source as it is now, leave out --if-unchanged.',
    }),
    plan_source_missing: ({ source, folder, file }: { source: string; folder: string; file: string }) => ({
      text: `${source} does not exist`,
      remedy: `Relative paths in a plan start at the plan's folder, ${folder}. Correct source.path in ${file}.`,
    }),
  }),
  ...ofCode('BAD_PLAN', {
    plan_untrusted: (
      {
        sent,
        apiKeyEnv,
      }: {
        /** What it sends, and where. */
        sent: string
        /** Null if no key is sent. */
        apiKeyEnv: string | null
      },
      sluice: string,
    ) => ({
      text: `the plan would send ${sent}, which no stored connection allows; nothing was sent`,
      remedy: `If you trust the plan, add --trust-plan. If only its connection is unknown, you can also store that: ${sluice} connection add NAME --base-url URL${apiKeyEnv === null ? '' : ` --key default=${apiKeyEnv}`}`,
    }),
    plan_unreadable: ({ file, system, reason }: Thrown & { file: string }) => ({
      text: system === 'ENOENT' ? `plan ${file} does not exist` : `cannot read the plan ${file}: ${reason}`,
      remedy: {
        terminal: 'To create a plan, add --save-plan FILE to a sending command.',
        window: 'Check that the file is still there and can be read, then open it again.',
      },
    }),
    plan_not_json: ({ file, reason }: { file: string; reason: string }) => ({
      text: `${file} is not valid JSON: ${reason}`,
      remedy: {
        terminal: 'Correct the file, or create a plan with --save-plan FILE.',
        window: 'Correct the file, then open it again.',
      },
    }),
    plan_refused: ({ file, problems }: { file: string; problems: readonly string[] }) => ({
      text: `${file} has ${problems.length === 1 ? '1 problem' : `${problems.length} problems`}; nothing was sent`,
      causes: problems,
      remedy: {
        terminal:
          'Correct the plan. docs/plan.schema.json describes every key; editors that support "$schema" show its help as you type.',
        window: 'Correct the plan, then open it again. Nothing is read before that.',
      },
    }),
  }),
  ...ofCode('FILE_UNWRITABLE', {
    save_plan_unwritable: ({ file, reason }: { file: string; reason: string }) => ({
      text: `--save-plan: cannot write ${file}: ${reason}`,
      remedy: 'Choose a file in a writable folder.',
    }),
  }),
  ...ofCode('RUN_NOT_FOUND', {
    no_runs: ({ reference, workspace }: { reference: string; workspace: string }) => ({
      text: `run \`${reference}\` does not exist: the workspace ${workspace} has no runs`,
      remedy: 'To use another workspace, pass --workspace or set SLUICE_WORKSPACE.',
    }),
    run_unknown: (
      { reference, workspace, newest }: { reference: string; workspace: string; newest: string },
      sluice: string,
    ) => ({
      text: `run \`${reference}\` does not exist in the workspace ${workspace}`,
      remedy: `The latest run is ${newest}. To list all runs, run: ${sluice} runs`,
    }),
    run_ambiguous: (args: { reference: string; runs: number; some: readonly string[] }) => ({
      text: `\`${args.reference}\` matches ${args.runs} runs: ${args.some.join(', ')}${args.runs > args.some.length ? ', …' : ''}`,
      remedy: 'Use a whole id, or a longer prefix of it, or latest:NAME for the newest run of a name.',
    }),
  }),
  ...ofFailure('SANDBOX_UNAVAILABLE', {
    demo_sandbox_refuses: (args: {
      postId: string
      tries: number
      /** Null if no answer came. */
      status: number | null
    }) => ({
      text: `the sandbox did not accept ${args.postId} in ${args.tries} tries (last answer: ${args.status ?? 'none'})`,
      remedy: 'Start the demo again.',
    }),
  }),
} satisfies Record<string, ErrorEntry>

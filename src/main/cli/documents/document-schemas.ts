import { z } from 'zod'
import { capacityReportSchema } from '../../../shared/load/capacity-report.ts'
import { loadComparisonSchema } from '../../../shared/load/load-comparison.ts'
import { loadReportSchema, loadSecondSchema } from '../../../shared/load/load-report.ts'
import { trendMetricSchema } from '../../../shared/load/metrics.ts'
import { speedVerdictSchema } from '../../../shared/load/speed-gate.ts'
import { annotationsSchema } from '../../../shared/lookback/annotations.ts'
import { baselinesSchema } from '../../../shared/lookback/baseline.ts'
import { decisionComparisonSchema } from '../../../shared/lookback/comparison.ts'
import { evaluationSchema } from '../../../shared/lookback/evaluation.ts'
import { ledgerKindSchema, ledgerSchema } from '../../../shared/lookback/ledger.ts'
import { prunableRunsSchema } from '../../../shared/lookback/retention.ts'
import { runReportSchema } from '../../../shared/lookback/run-report.ts'
import { sampleSchema } from '../../../shared/lookback/stratified-sample.ts'
import { trendSchema } from '../../../shared/lookback/trend.ts'
import { verdictDocumentSchema } from '../../../shared/lookback/verdict.ts'
import { savedMappingSchema } from '../../../shared/mapping/saved-mappings.ts'
import { OPERATION_KINDS, OPERATIONS } from '../../../shared/operations/operations.ts'
import { rowAndRecordShape } from '../../../shared/plan/source-place.ts'
import { acceptCodeSchema } from '../../../shared/run/accept-code.ts'
import { receiverSchema } from '../../../shared/run/callback-overview.ts'
import { rowAnswerSchema, unsentShape } from '../../../shared/run/item-state.ts'
import { problemGroupSchema, problemSchema } from '../../../shared/run/problem.ts'
import { sourceReadSchema } from '../../../shared/run/read-as.ts'
import { rowDetailSchema } from '../../../shared/run/results.ts'
import { correctedSchema, runSummarySchema } from '../../../shared/run/run.ts'
import { sentBeforeSchema } from '../../../shared/run/sent-before.ts'
import { usedMappingSchema } from '../../../shared/run/used-mapping.ts'
import { writtenRowsSchema } from '../../../shared/run/written-rows.ts'
import { toSnakeName } from '../terminal/output.ts'
import { SCHEMA_VERSION } from './write-document.ts'

interface DocumentSchema {
  commands: readonly string[]
  schema: z.ZodType
  /** Whether members have camelCase names in the code and snake_case names in the document. */
  isRenamed?: true
}

const written = { file: z.string(), rows: z.int(), bytes: z.int() }

/** Documents have problems in words, which replace these members. */
const inWords = { args: true, details: true, text: true } as const
const wordedProblemSchema = problemSchema.omit(inWords).extend({ ...rowAndRecordShape, message: z.string() })
const wordedGroupSchema = problemGroupSchema
  .omit({ args: true, text: true })
  .extend({ message: z.string(), examples: z.array(wordedProblemSchema) })

const connectionSchema = z.object({
  name: z.string(),
  in_use: z.boolean(),
  production: z.boolean(),
  base_url: z.string(),
  task_base_url: z.string().nullable(),
  keys: z.array(
    z.object({
      label: z.string(),
      /** Null if the key is only typed. */
      env: z.string().nullable(),
      /** Where a typed key is kept; null if none was typed. */
      kept_in: z.string().nullable(),
      active: z.boolean(),
      set: z.boolean(),
    }),
  ),
  timeout_ms: z.int().nullable(),
  delivered_codes: z.array(z.string()),
  /** By name; values from variables and files are given by reference. */
  headers: z.record(z.string(), z.string()).exactOptional(),
  user_agent: z.string().nullable().exactOptional(),
  keep_alive: z.boolean().exactOptional(),
  traceparent: z.boolean().exactOptional(),
  resolve: z.array(z.string()).exactOptional(),
  unix_socket: z.string().nullable().exactOptional(),
  system_ca: z.boolean(),
  ca: z.string().nullable(),
  client_cert: z.string().nullable(),
  client_key: z.string().nullable(),
  proxy: z.object({ url: z.string(), credentials_env: z.string().nullable() }).nullable(),
  system_proxy: z.boolean(),
})

/** See {@link connectionSchema}: a connection as `--json` shows it. */
export type ConnectionDocument = z.infer<typeof connectionSchema>

const SENDING = [...OPERATION_KINDS.map((kind) => OPERATIONS[kind].words.command), 'load', 'plan']

/** Every document that `--json` prints, by its schema's name in docs/schemas. Arrays consist of these. */
export const DOCUMENT_SCHEMAS = {
  run: {
    commands: [...SENDING, 'resume', 'retry', 'run-again', 'runs', 'show', 'import-k6', 'demo'],
    schema: runSummarySchema.extend({ further_runs: z.array(runSummarySchema).exactOptional() }),
  },
  'unreadable-run': {
    commands: ['runs'],
    schema: z.object({ run_id: z.string(), unreadable: z.string() }),
  },
  row: {
    commands: ['show --row'],
    schema: rowDetailSchema.extend({
      result: rowDetailSchema.shape.result.extend({ ...rowAndRecordShape, state: z.string() }),
      problems: z.array(wordedProblemSchema),
    }),
    isRenamed: true,
  },
  problems: {
    commands: ['show --problems'],
    schema: z.object({ run_id: z.string(), problems: z.array(wordedGroupSchema) }),
  },
  rows: {
    commands: ['show --state', 'show --answer', 'show --rule', 'show --flagged'],
    schema: z.object({
      run_id: z.string(),
      /** Rows that match the filters. */
      total: z.int(),
      offset: z.int(),
      rows: z.array(
        z.object({
          ...rowAndRecordShape,
          post_id: z.string().nullable(),
          state: z.string(),
          /** HTTP status of the last attempt; null if there was no answer. */
          status: z.int().nullable(),
          error_code: z.string().nullable(),
          message: z.string().nullable(),
          task_id: z.string().nullable(),
          answer: rowAnswerSchema.nullable(),
          attempts: z.int(),
          triggered_rules: z.array(z.object({ rule_id: z.string(), rule_name: z.string() })),
        }),
      ),
    }),
  },
  'dry-run': {
    commands: [...SENDING, 'run-again'].map((command) => `${command} --dry-run`),
    schema: z.object({
      dry_run: z.literal(true),
      load: z.array(z.string()).exactOptional(),
      rows: z.object({ read: z.int(), ...unsentShape, sendable: z.int() }),
      corrected: correctedSchema.exactOptional(),
      /** What earlier runs sent of the source; absent if nothing. */
      sent_before: sentBeforeSchema.exactOptional(),
      source_read: sourceReadSchema.exactOptional(),
      mapping: usedMappingSchema.exactOptional(),
      problems: z.array(wordedGroupSchema),
      /** Why a run without a terminal would be refused before it sends anything. */
      refusal: z.object({ code: z.string(), message: z.string(), hint: z.string() }).exactOptional(),
      /** Causes of warnings that must be accepted before the rows are sent. */
      to_accept: z.array(wordedGroupSchema.extend({ accept: acceptCodeSchema })),
      first_request: z
        .object({ ...rowAndRecordShape, method: z.string(), url: z.string(), body: z.unknown() })
        .nullable(),
    }),
  },
  capacity: { commands: ['load --find-capacity'], schema: capacityReportSchema },
  'k6-project': { commands: ['load --export-k6'], schema: z.object(written) },
  comparison: {
    commands: ['compare'],
    schema: z.object({
      /** The run of a side, or the first of its runs. */
      a_run_id: z.string(),
      b_run_id: z.string(),
      a_run_ids: z.array(z.string()),
      b_run_ids: z.array(z.string()),
      ...loadComparisonSchema.shape,
      /** The result of --fail-if-slower; null without it. */
      gate: speedVerdictSchema.nullable(),
      decisions: decisionComparisonSchema.nullable(),
    }),
    isRenamed: true,
  },
  trend: { commands: ['trend'], schema: trendSchema },
  evaluation: { commands: ['evaluate'], schema: evaluationSchema },
  report: { commands: ['report'], schema: runReportSchema },
  'load-report': {
    commands: ['report'],
    schema: loadReportSchema.extend({
      histograms: z.partialRecord(trendMetricSchema, z.string()),
      seconds: z.array(loadSecondSchema),
      comparison: loadComparisonSchema.nullable(),
    }),
  },
  export: {
    commands: ['export'],
    schema: z.object({
      run_id: z.string(),
      ...writtenRowsSchema.shape,
      errors: writtenRowsSchema.exactOptional(),
      rows_in_neither: z.int().exactOptional(),
    }),
  },
  sample: { commands: ['sample'], schema: sampleSchema },
  verdicts: {
    commands: ['verdict'],
    schema: z.object({ run_id: z.string(), verdicts: z.array(verdictDocumentSchema) }),
  },
  ledger: { commands: ['ledger index', 'ledger watchlist', 'ledger appeals'], schema: ledgerSchema },
  'ledger-export': {
    commands: ['ledger index --export', 'ledger watchlist --export', 'ledger appeals --export'],
    schema: z.object({ of: ledgerKindSchema, list: z.string().nullable(), ...writtenRowsSchema.shape }),
  },
  baseline: {
    commands: ['baseline set', 'baseline list', 'baseline remove'],
    schema: baselinesSchema.shape.baselines.element,
  },
  annotations: { commands: ['runs edit'], schema: annotationsSchema.extend({ run_id: z.string() }) },
  prune: {
    commands: ['runs prune'],
    schema: z.object({
      dry_run: z.boolean(),
      deleted: prunableRunsSchema.shape.runs,
      kept: z.object({ running: z.int(), protected: z.int() }),
      size_bytes: z.int(),
      kept_bytes: z.int(),
    }),
  },
  retention: {
    commands: ['runs retention'],
    schema: z.object({
      older_than_s: z.number().nullable(),
      larger_than_bytes: z.int().nullable(),
      keep_below_bytes: z.int().nullable(),
    }),
  },
  delete: {
    commands: ['delete'],
    schema: z.object({ deleted: z.string(), deleted_retries: z.array(z.string()) }),
  },
  wipe: { commands: ['wipe'], schema: z.object({ workspace: z.string(), deleted_runs: z.int() }) },
  connection: {
    commands: ['add', 'set', 'list', 'show', 'use', 'key'].map((command) => `connection ${command}`),
    schema: connectionSchema,
  },
  'connection-removal': {
    commands: ['connection remove'],
    schema: z.object({ removed: z.string(), in_use: z.string().nullable() }),
  },
  mapping: {
    commands: ['list', 'save', 'rename', 'remove'].map((command) => `mapping ${command}`),
    schema: savedMappingSchema,
  },
  receiver: { commands: ['receiver'], schema: receiverSchema, isRenamed: true },
  'receiver-test': {
    commands: ['receiver test'],
    schema: z.object({
      callback_url: z.string(),
      base_url: z.string(),
      arrived: z.literal(true),
      arrived_ms: z.int(),
    }),
  },
  sandbox: {
    commands: ['sandbox'],
    schema: z.object({
      base_url: z.string(),
      port: z.int(),
      task_base_url: z.string(),
      task_port: z.int(),
      admin_token: z.string(),
    }),
  },
  error: {
    commands: ['any command that fails'],
    schema: z.object({ error: z.object({ code: z.string(), message: z.string(), hint: z.string() }) }),
  },
} satisfies Record<string, DocumentSchema>

export type DocumentName = keyof typeof DOCUMENT_SCHEMAS

/** The JSON Schema of a document, as in docs/schemas; it allows no members that it does not name. */
export function toDocumentJsonSchema(name: DocumentName): Record<string, unknown> {
  const { commands, schema, isRenamed }: DocumentSchema = DOCUMENT_SCHEMAS[name]
  const { $schema, ...body } = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' })
  return {
    $schema,
    title: name,
    description: `Printed with --json by: ${commands.join(', ')}`,
    ...addVersion(isRenamed === true ? (renameMembers(body) as JsonSchema) : body),
  }
}

type JsonSchema = Record<string, unknown>

/** Adds the version to the documents themselves, not to nested objects. */
function addVersion(schema: JsonSchema): JsonSchema {
  const { oneOf, anyOf, properties, required } = schema
  if (Array.isArray(oneOf)) return { ...schema, oneOf: oneOf.map(addVersion) }
  if (Array.isArray(anyOf)) return { ...schema, anyOf: anyOf.map(addVersion) }
  return {
    ...schema,
    properties: { schema_version: { const: SCHEMA_VERSION }, ...(properties as object) },
    required: ['schema_version', ...((required ?? []) as string[])],
  }
}

/** The same schema with the names of members in snake case, as `toSnakeCase` writes a document. */
function renameMembers(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(renameMembers)
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (keyword === 'required' && Array.isArray(value)) return [keyword, value.map(toSnakeName)]
      if (keyword !== 'properties') return [keyword, renameMembers(value)]
      const members = Object.entries(value as object)
      return [
        keyword,
        Object.fromEntries(members.map(([name, member]) => [toSnakeName(name), renameMembers(member)])),
      ]
    }),
  )
}

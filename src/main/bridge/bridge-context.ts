import {
  type ContractProcedure,
  type InferSchemaInput,
  type InferSchemaOutput,
  ORPCError,
  type ProcedureHandler,
  ValidationError,
} from '@orpc/server'
import type { Platform } from '../../shared/bridge/app.ts'
import type { bridgeContract } from '../../shared/bridge/contract.ts'
import { toBridgeError } from '../../shared/bridge/errors.ts'
import type { PLAN_FORMAT } from '../../shared/bridge/plans.ts'
import type { Exported, ExportFormat } from '../../shared/bridge/results.ts'
import { SluiceError, toSluiceError } from '../../shared/messages/errors.ts'
import type { TlsFile } from '../../shared/messages/service-messages.ts'
import type { ExportResult } from '../../shared/run/written-rows.ts'
import type { Engine } from '../engine/engine.ts'
import type { KeyStore } from '../engine/secrets/key-store.ts'
import type { CapacitySearches } from './capacity-searches.ts'
import type { CleanUps } from './clean-ups.ts'
import type { Crashes } from './crashes.ts'
import type { Clock, EventGates } from './event-stream.ts'
import type { LiveRuns } from './live-runs.ts'
import type { MediaFiles } from './media-files.ts'
import type { OpenedPlans } from './opened-plans.ts'
import type { AskProduction, ProductionGate } from './production-gate.ts'
import type { RemovedConnections } from './removed-connections.ts'
import type { KeySwitch } from './run-key.ts'
import type { SandboxHost } from './sandbox-host.ts'
import type { Sources } from './sources.ts'
import type { QuestionOfWindow } from './waiting-question.ts'

/** Where an export is written, and what the window gets to know about it. */
export interface ExportPlace {
  /** Absolute path; the ending is the format. */
  file: string
  publish(result: ExportResult): Exported
}

/** What a desktop alone can do for its window. */
export interface DesktopParts {
  readonly logFolder: string
  readonly diagnosticsFolder: string
  /** Shows a folder in the system's file manager; settles with why it could not, else with an empty text. */
  openFolder(path: string): Promise<string>
  collectDiagnostics(): Promise<void>
  /** Has a person choose a file of a connection in a dialog of the system; null if they cancel. */
  chooseConnectionFile(connection: string, file: TlsFile): Promise<string | null>
  /** Null if the build has no place to ask for updates. */
  readonly updates: {
    isAutomatic(): boolean
    setAutomatic(isAutomatic: boolean): void
    check(options: { byPerson: boolean }): Promise<void>
  } | null
}

/** What differs between a desktop and a browser. */
export interface BridgeHost {
  readonly platform: Platform
  /** Null in a browser, and until the desktop app has started. */
  readonly desktop: DesktopParts | null
  /** Decides where an export goes. Throws `BAD_USAGE` if the export cannot be written there. */
  placeExport(request: {
    targetId: string | undefined
    format: ExportFormat | typeof PLAN_FORMAT
    name: string
  }): Promise<ExportPlace>
  /** Decides where the error file of a success file goes. It replaces no file. */
  placeErrors(request: { success: string; name: string }): Promise<ExportPlace>
  /** Asks a person, out of reach of any page, before anything is sent to production. */
  readonly askProduction: AskProduction
}

/** What all windows of a process share. */
export interface BridgeServices {
  readonly engine: Engine
  readonly host: BridgeHost
  /** Files that windows may have read. */
  readonly sources: Sources
  /** Plan files that a person opened. */
  readonly plans: OpenedPlans
  /** Pictures, videos and sounds that windows may show. */
  readonly media: MediaFiles
  readonly productionGate: ProductionGate
  readonly liveRuns: LiveRuns
  readonly capacitySearches: CapacitySearches
  readonly crashes: Crashes
  readonly cleanUps: CleanUps
  readonly sandbox: SandboxHost
  /** Announces that a window switched a stored connection's key. */
  readonly keySwitch: KeySwitch
  readonly keyStore: KeyStore
  readonly removedConnections: RemovedConnections
  readonly clock: Clock
  readonly env: NodeJS.ProcessEnv
}

/** What the handlers of one connection work with. */
export interface BridgeContext extends BridgeServices {
  readonly gates: EventGates
  /** The question before production that this window waits for. */
  readonly question: QuestionOfWindow
}

type HandlerOf<Procedure> =
  Procedure extends ContractProcedure<infer Input, infer Output, infer Errors, infer Meta>
    ? ProcedureHandler<BridgeContext, InferSchemaOutput<Input>, InferSchemaInput<Output>, Errors, Meta>
    : never

/**
 * How the procedures of a part of the contract are answered, given arguments that fit its schemas. What comes back is
 * what the engine says, unless the host or a gate has a say in it.
 */
export type Handlers<Part extends keyof typeof bridgeContract> = {
  [Name in keyof (typeof bridgeContract)[Part]]: HandlerOf<(typeof bridgeContract)[Part][Name]>
}

/** Turns anything a handler threw into one of the contract's errors, without repeating what was typed. */
export function toReportedError(error: unknown): Error {
  if (error instanceof ORPCError) {
    if (error.defined) return error
    return toBridgeError(toSluiceError(toCallError(error)))
  }
  return toBridgeError(toSluiceError(error))
}

function toCallError(error: ORPCError<string, unknown>): Error {
  const { cause } = error
  if (error.code !== 'BAD_REQUEST' || !(cause instanceof ValidationError)) return error
  const faults = cause.issues.map(({ path, message }) => {
    const name = (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
    return name === '' ? message : `${name}: ${message}`
  })
  return new SluiceError({ id: 'request_invalid', faults })
}

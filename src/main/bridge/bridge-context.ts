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

/** Where to write an export, and what to tell the window about it. */
export interface ExportPlace {
  /** Absolute path; its ending is the format. */
  file: string
  publish(result: ExportResult): Exported
}

/** Services that only the desktop app has. */
export interface DesktopParts {
  readonly logFolder: string
  readonly diagnosticsFolder: string
  /** Shows a folder in the system's file manager; resolves with the reason for a failure, else with ''. */
  openFolder(path: string): Promise<string>
  collectDiagnostics(): Promise<void>
  /** Lets a person choose a connection's file in a system dialog; null if they cancel. */
  chooseConnectionFile(connection: string, file: TlsFile): Promise<string | null>
  /** Null if the build has no update server. */
  readonly updates: {
    isAutomatic(): boolean
    setAutomatic(isAutomatic: boolean): void
    check(options: { byPerson: boolean }): Promise<void>
  } | null
}

/** What differs between desktop and browser. */
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
  /** Decides where the error file that belongs to a success file goes. Replaces no file. */
  placeErrors(request: { success: string; name: string }): Promise<ExportPlace>
  /** Asks a person, beyond the reach of any page, before anything is sent to production. */
  readonly askProduction: AskProduction
}

/** Services that all windows of a process share. */
export interface BridgeServices {
  readonly engine: Engine
  readonly host: BridgeHost
  readonly sources: Sources
  readonly plans: OpenedPlans
  readonly media: MediaFiles
  readonly productionGate: ProductionGate
  readonly liveRuns: LiveRuns
  readonly capacitySearches: CapacitySearches
  readonly crashes: Crashes
  readonly cleanUps: CleanUps
  readonly sandbox: SandboxHost
  readonly keySwitch: KeySwitch
  readonly keyStore: KeyStore
  readonly removedConnections: RemovedConnections
  readonly clock: Clock
  readonly env: NodeJS.ProcessEnv
}

/** What the handlers of one connection use. */
export interface BridgeContext extends BridgeServices {
  readonly gates: EventGates
  /** The question before production that waits for an answer because of this window. */
  readonly question: QuestionOfWindow
}

type HandlerOf<Procedure> =
  Procedure extends ContractProcedure<infer Input, infer Output, infer Errors, infer Meta>
    ? ProcedureHandler<BridgeContext, InferSchemaOutput<Input>, InferSchemaInput<Output>, Errors, Meta>
    : never

/**
 * Handlers of the procedures in a part of the contract; arguments are already checked against its schemas.
 * Handlers return the engine's answers, unless the host or a gate decides otherwise.
 */
export type Handlers<Part extends keyof typeof bridgeContract> = {
  [Name in keyof (typeof bridgeContract)[Part]]: HandlerOf<(typeof bridgeContract)[Part][Name]>
}

/** Turns anything that a handler threw into one of the contract's errors, without repeating typed text. */
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

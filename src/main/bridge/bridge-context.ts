import type { Platform } from '../../shared/bridge/app.ts'
import type { Exported, ExportFormat } from '../../shared/bridge/exports.ts'
import type { ExportResult } from '../../shared/run/results.ts'
import type { Engine } from '../engine/engine-interface.ts'
import type { Clock } from './clock.ts'
import type { EventGates } from './event-gates.ts'
import type { KeySwitch } from './key-switch.ts'
import type { LiveRuns } from './live-runs.ts'
import type { AskProduction, ProductionGate } from './production-gate.ts'
import type { SandboxHost } from './sandbox-host.ts'
import type { Sources } from './sources.ts'

/** Where an export is written, and what the window is told about it afterwards. */
export interface ExportPlace {
  /** Absolute path; the ending is the format. */
  file: string
  publish(result: ExportResult): Exported
}

/** What differs between a desktop and a browser. */
export interface BridgeHost {
  readonly platform: Platform
  /** Decides where an export goes. Throws `BAD_USAGE` if the export cannot be written there. */
  placeExport(request: {
    targetId: string | undefined
    format: ExportFormat
    name: string
  }): Promise<ExportPlace>
  /** Asks a person before anything is sent to production, where no page can answer. */
  readonly askProduction: AskProduction
}

/** What all windows of a process share. */
export interface BridgeServices {
  readonly engine: Engine
  readonly host: BridgeHost
  /** Files that windows may have read. */
  readonly sources: Sources
  readonly productionGate: ProductionGate
  readonly liveRuns: LiveRuns
  readonly sandbox: SandboxHost
  /** Told at once when a window switches a stored connection's key. */
  readonly keySwitch: KeySwitch
  readonly clock: Clock
  readonly env: NodeJS.ProcessEnv
}

/** What the handlers of one connection work with. */
export interface BridgeContext extends BridgeServices {
  readonly gates: EventGates
}

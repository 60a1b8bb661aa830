import type { Auditor } from '../billing/auditor.ts'
import type { Gallery } from '../gallery/gallery.ts'
import type { Calibration } from '../gallery/similarity.ts'
import type { Limits } from '../gate/limit.ts'
import type { Strangers } from '../gate/strangers.ts'
import type { Answer, Request } from '../http/exchange.ts'
import type { JsonLimits } from '../http/json.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Micros } from '../lib/money.ts'
import type { StoreFacts } from '../store/about.ts'
import type { Store } from '../store/database.ts'
import type { KeyFacts } from '../store/keys.ts'
import type { Passwords } from './password.ts'
import type { Throttle } from './throttle.ts'

/** What the console works with. All of it arrives by parameter; its pages open nothing themselves. */
export type ConsoleServices = {
  readonly version: string
  readonly store: Store
  readonly gallery: Gallery
  readonly clock: Clock
  readonly log: Log
  /** What holds for projects and accounts without settings of their own. */
  readonly defaults: ConsoleDefaults
  /** The slowing of wrong guesses that the gate has for wrong keys. */
  readonly strangers: Strangers
  readonly throttle: Throttle
  readonly passwords: Passwords
  readonly bodyBytesMax: number
  readonly json: JsonLimits
  /** Runs a call of the one endpoint as if it had come with this key. */
  readonly execute: (caller: KeyFacts, request: Request) => Promise<Answer>
  readonly auditor: Auditor
  readonly models: () => Promise<ModelFacts>
  readonly similarityAt: (score: number, calibration: Calibration) => number
  readonly system: () => Promise<SystemFacts>
}

export type ConsoleDefaults = Limits & {
  readonly unitMicros: Micros
  readonly retentionDays: number
  /** From this score on svc.liveness says live, where a call names no threshold. */
  readonly livenessMin: number
}

/** A network that is there. */
export type ModelFact = {
  readonly role: string
  readonly id: string
  readonly version: string
  readonly licence: string
  readonly commercialUse: string
  readonly sha256: string
  readonly file: string
  readonly bytes: number
  readonly builtIn: boolean
}

export type ModelFacts = {
  readonly active: readonly ModelFact[]
  /** Those of packs that are installed, active or not. */
  readonly installed: readonly ModelFact[]
  /** What scores of the active recognizer mean. */
  readonly calibration: Calibration
}

/** The state of the process and of what it stands on. */
export type SystemFacts = {
  readonly reasons: readonly string[]
  readonly workers: Record<'up' | 'busy' | 'queued' | 'queuedBytes' | 'respawns', number> &
    Record<'recycled' | 'poisoned', number>
  readonly disk: {
    readonly freeBytes: number
    readonly totalBytes: number
    readonly modelsBytes: number
  }
  readonly store: StoreFacts
  readonly settings: readonly {
    readonly name: string
    readonly value: string
    readonly isDefault: boolean
  }[]
}

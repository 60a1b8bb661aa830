import type { AuditRunner } from '../billing/audit-runner.ts'
import type { Gallery, Maintenance } from '../gallery/gallery.ts'
import type { Subjects } from '../gallery/subjects.ts'
import type { applyMeasuredTable } from '../gallery/calibration/calibrations.ts'
import type { GalleryMeasurements, MeasurementResult } from '../gallery/calibration/measurements.ts'
import type { GalleryHealth } from '../gallery/health/check-gallery.ts'
import type { Calibration } from '../gallery/calibration/similarity.ts'
import type { DeletionCertificate } from '../lib/crypto/deletion-certificate.ts'
import type { KeyedQueue } from '../lib/limits/keyed-queue.ts'
import type { RateLimits } from '../lib/limits/token-bucket.ts'
import type { AuthThrottle } from '../gate/auth-throttle.ts'
import type { HttpResponse, HttpRequest } from '../http/route.ts'
import type { JsonLimits } from '../http/input/parse-json.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Micros } from '../lib/money.ts'
import type { ListedModel } from '../models/installed-packs.ts'
import type { DatabaseInfo, Store, Tx } from '../store/database.ts'
import type { ChainedDeletion } from '../store/gallery/deletion-chain.ts'
import type { KeyIdentity } from '../store/tenancy/keys.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'
import type { DiskUsage, ServerReport, SettingsTopic } from './pages/system/server-report.ts'
import type { AnonymousLimit, FailedSignInLog, SignInThrottle } from './auth/sign-in-throttle.ts'
import type { PasswordHasher } from './auth/password-hasher.ts'
import type { SecondFactors } from './auth/second-factor/second-factors.ts'

/** The dependencies of the console. All are passed in; the pages open no resource themselves. */
export type ConsoleServices = {
  readonly version: string
  readonly store: Store
  readonly subjects: Subjects
  readonly maintenance: Maintenance
  readonly visitors: Gallery['visitors']
  readonly matching: Gallery['matching']
  readonly webhooks: Webhooks
  readonly clock: Clock
  readonly log: Log
  /** Defaults for projects and accounts without a setting. */
  readonly defaults: ConsoleDefaults
  /** The queue of lists and searches, shared with the gate. */
  readonly queueRead: KeyedQueue
  /** The throttle of failed authentication, shared with the gate. */
  readonly authThrottle: AuthThrottle
  readonly signInThrottle: SignInThrottle
  readonly failedSignInLog: FailedSignInLog
  readonly anonymousLimit: AnonymousLimit
  readonly passwordHasher: PasswordHasher
  readonly secondFactors: SecondFactors
  readonly bodyBytesMax: number
  /** The address for links; empty: that of the request. */
  readonly publicUrl: string
  /** The limits of an image of a call. */
  readonly imageLimits: Readonly<
    Record<'imageBytesMax' | 'imagePixelsMax' | 'imageSideMinPx', number>
  >
  /** The false-match rate of each similarity of the calibration, falling. */
  readonly falseMatchRates: readonly { readonly similarity: number; readonly rate: number }[]
  readonly jsonLimits: JsonLimits
  /** Runs an API call as if the request had been sent with this key. */
  readonly execute: (caller: KeyIdentity, request: HttpRequest) => Promise<HttpResponse>
  /** Creates a liveness session as the API does. */
  readonly createSession: (caller: KeyIdentity, request: HttpRequest) => Promise<HttpResponse>
  /** Signs the certificate of a deletion with the key of its account. */
  readonly signDeletion: (tx: Tx, row: ChainedDeletion) => Promise<DeletionCertificate>
  readonly auditor: AuditRunner
  readonly measurements: GalleryMeasurements<MeasurementResult>
  readonly healthChecks: GalleryMeasurements<GalleryHealth>
  readonly applyMeasuredTable: typeof applyMeasuredTable
  readonly readModels: () => Promise<ModelInventory>
  readonly modelCommands: ModelCommands
  readonly similarityAt: (score: number, calibration: Calibration) => number
  readonly readSystem: () => Promise<ServerStatus>
  /** This server and its present state. */
  readonly systemMonitor: {
    readonly server: string
    readonly report: () => Promise<ServerReport>
  }
  /** Collects what helps to find the cause of a problem, without secrets, for all accounts. */
  readonly createSupportBundle: () => Promise<Readonly<Record<string, unknown>>>
}

export type ConsoleDefaults = RateLimits & {
  readonly unitMicros: Micros
  readonly retentionDays: number
  /** The default liveness threshold: svc.liveness returns live from this score. */
  readonly livenessMin: number
  /** The threshold of svc.identify for a number of subjects, where a project has none. */
  readonly identifyThresholdOf: (subjects: number) => number
}

export type ModelInventory = {
  /** The networks with their use after the next start of the server. */
  readonly models: readonly (ListedModel & { readonly nextUse: ListedModel['use'] })[]
  /** Maps scores of the active recognizer to similarities and false-match rates. */
  readonly calibration: Calibration
}

/** Runs commands of `facegate models` on this server, one at a time. */
export type ModelCommands = {
  /** Returns the started command, or undefined while another one runs. */
  readonly start: (command: ModelCommand, startedBy: string) => Promise<ModelCommandRun | undefined>
  readonly report: () => Promise<ModelCommandReport>
  /** Ends the command if it runs, and deletes its output. Returns it, if there is one. */
  readonly discard: () => Promise<ModelCommandRun | undefined>
}

/** The options have the names of the command line. */
export type ModelCommand = {
  readonly command: string
  readonly target?: string | undefined
  readonly options: Readonly<Record<string, string | number | boolean>>
}

export type ModelCommandRun = {
  readonly commandLine: string
  readonly state: 'running' | 'done' | 'failed'
  readonly startedBy: string
  readonly startedAtUtc: string
  /** The end of what it printed. */
  readonly output: string
}

/** The last command, and the files that the operator has placed for the next ones. */
export type ModelCommandReport = {
  readonly run: ModelCommandRun | null
  readonly incomingFolder: string
  readonly incoming: readonly {
    readonly name: string
    readonly kind: 'pack' | 'folder' | 'file'
  }[]
}

/** The state of the server process, its disk and its database. */
export type ServerStatus = {
  readonly reasons: readonly string[]
  readonly workers: Record<'up' | 'busy' | 'queued' | 'queuedBytes' | 'respawns', number> &
    Record<'recycled' | 'quarantined', number>
  readonly disk: DiskUsage
  readonly store: DatabaseInfo
  readonly settings: readonly SettingsTopic[]
}

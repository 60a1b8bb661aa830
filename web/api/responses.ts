import type { ServedRoute } from '../../src/console/routes.ts'
import type { ResponseOf, WriteMethod } from '../../src/console/server/console-route.ts'

/**
 * The types of all responses are derived from the console's routes, whose schemas the server validates
 * its responses with. Times are ISO 8601 UTC. Amounts are strings of whole micro-units.
 */

type ServedRead = Extract<ServedRoute, { readonly method: 'GET'; readonly handle: unknown }>

/** The response of each route that changes nothing, by path. */
export type ConsoleResponses = {
  readonly [Route in ServedRead as Route['path']]: ResponseOf<Route>
}

/** The response of each route that changes data, by method and path. */
export type WriteResponses = {
  readonly [Method in WriteMethod]: {
    readonly [
      Route in Extract<ServedRoute, { readonly method: Method }> as Route['path']
    ]: ResponseOf<Route>
  }
}

export type WritePath<Method extends WriteMethod> = keyof WriteResponses[Method] & string

/** One page of a list and the cursors of the next and the previous page. */
export type CursorPage<Item> = {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
  readonly previousCursor: string | null
}

export type ConsoleSession = ConsoleResponses['/session']
export type UserSession = ConsoleResponses['/sessions']['items'][number]
export type Overview = ConsoleResponses['/overview']
export type OverviewAlert = Overview['alerts'][number]
export type ProjectBudget = Overview['budgets'][number]
export type ConsoleProject = ConsoleResponses['/projects/:projectId']
export type MatchDays = ConsoleResponses['/projects/:projectId/subjects/:subjectId/match-days']
export type GalleryModePreview = ConsoleResponses['/projects/:projectId/gallery-mode-preview']
export type ProjectLosses = ConsoleResponses['/projects/:projectId/losses']
export type ConsoleKey = ConsoleResponses['/keys']['items'][number]
export type KeyUsage = ConsoleResponses['/key-usage']['items'][number]
export type ConsolePermission = ConsoleResponses['/permissions'][number]
export type ConsoleWebhook = ConsoleResponses['/webhooks']['items'][number]
export type WebhookEventInfo = ConsoleResponses['/webhooks']['eventTypes'][number]
export type ConsoleDelivery = ConsoleResponses['/webhooks/:webhookId/deliveries']['items'][number]
export type ActionInfo = ConsoleResponses['/actions'][number]
export type ErrorInfo = ConsoleResponses['/errors'][number]
export type PlaygroundSettings = ConsoleResponses['/playground/settings']
export type PlaygroundResponse = WriteResponses['POST']['/playground']
export type PlaygroundSession = WriteResponses['POST']['/playground/liveness-sessions']
export type ConsoleSubject = ConsoleResponses['/projects/:projectId/subjects/:subjectId']
export type ConsoleVisitor = ConsoleResponses['/projects/:projectId/visitors/:visitorId']
export type SubjectGroupChanges = WriteResponses['POST']['/projects/:projectId/subjects/groups']
export type DeletedSubjectsReport = WriteResponses['POST']['/projects/:projectId/subjects/delete']
export type ImportedRows = WriteResponses['POST']['/projects/:projectId/subjects/import']
export type HealthReport = ConsoleResponses['/projects/:projectId/health']
export type RunningHealthCheck = Extract<HealthReport['check'], { state: 'running' }>
export type MeasuredHealth = Extract<HealthReport['check'], { state: 'measured' }>
export type PossibleDuplicate = MeasuredHealth['result']['duplicates'][number]
export type CheckedSubject = MeasuredHealth['result']['results'][number]
export type GalleryIssue = CheckedSubject['issues'][number]
export type ConsoleGroup = ConsoleResponses['/projects/:projectId/groups']['items'][number]
export type ConsoleDeletion = ConsoleResponses['/deletions']['items'][number]
export type SignedDeletion = WriteResponses['POST']['/deletions/:deletionId/certificate']
export type CallLogEntry = ConsoleResponses['/log']['items'][number]
export type LoggedCallDetails = ConsoleResponses['/log/:callId']
export type ScoreHistogram = ConsoleResponses['/analytics/scores']
export type MoneySummary = ConsoleResponses['/money']
export type ConsoleTransfer = ConsoleResponses['/money/ledger']['items'][number]
export type ModelsOverview = ConsoleResponses['/models']
export type StartedModelCommand = NonNullable<ConsoleResponses['/models/command']['run']>
export type GalleryCalibration = ModelsOverview['galleryCalibrations'][number]
export type ConsoleCalibrationPoint = NonNullable<ModelsOverview['calibration']>['points'][number]
type ConsoleMeasurement = ConsoleResponses['/projects/:projectId/calibration/measurement']
export type RunningMeasurement = Extract<ConsoleMeasurement, { state: 'running' }>
export type MeasuredGalleryTable = Extract<ConsoleMeasurement, { state: 'measured' }>
export type MeasuredRate = MeasuredGalleryTable['report']['points'][number]
export type SuspectedDuplicate = MeasuredGalleryTable['report']['suspectedDuplicates'][number]
export type TeamMember = ConsoleResponses['/users']['items'][number]
export type ConsoleRole = TeamMember['role']
export type AuditEntry = ConsoleResponses['/audit']['items'][number]
export type SystemReport = ConsoleResponses['/system']
export type SystemHistory = ConsoleResponses['/system/history']
export type SystemServer = SystemReport['servers'][number]
export type VisionWorker = NonNullable<SystemServer['report']>['workers'][number]

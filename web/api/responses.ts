import type * as analytics from '../../src/console/analytics/charts.ts'
import type * as bulkChanges from '../../src/console/pages/gallery/bulk-changes.ts'
import type { listCroppedFaces } from '../../src/console/pages/gallery/crops.ts'
import type * as deletions from '../../src/console/pages/gallery/deletions.ts'
import type { previewGalleryMode } from '../../src/console/pages/gallery/gallery-mode.ts'
import type * as groups from '../../src/console/pages/gallery/groups.ts'
import type { importSubjects } from '../../src/console/pages/gallery/import-subjects.ts'
import type { mergeIntoSubject } from '../../src/console/pages/gallery/merge.ts'
import type * as keys from '../../src/console/pages/keys/keys.ts'
import type { getKeyUsage } from '../../src/console/pages/keys/key-usage.ts'
import type * as log from '../../src/console/pages/log.ts'
import type { getMeasurement } from '../../src/console/pages/system/measurements.ts'
import type { getModels } from '../../src/console/pages/system/models.ts'
import type * as ledger from '../../src/console/pages/money/ledger.ts'
import type { getMoney } from '../../src/console/pages/money/money.ts'
import type { getOverview } from '../../src/console/analytics/overview.ts'
import type * as playground from '../../src/console/pages/playground.ts'
import type { previewLosses } from '../../src/console/pages/project-losses.ts'
import type * as projects from '../../src/console/pages/projects.ts'
import type { ResponseOf } from '../../src/console/server/route.ts'
import type { getSession } from '../../src/console/auth/session.ts'
import type * as subjects from '../../src/console/pages/gallery/subjects.ts'
import type { getSystemHistory } from '../../src/console/pages/system/history.ts'
import type { getSystem } from '../../src/console/pages/system/system.ts'
import type { listWebhookDeliveries } from '../../src/console/pages/webhooks/deliveries.ts'
import type { listWebhooks } from '../../src/console/pages/webhooks/webhooks.ts'
import type { listAudit, listAuditActs } from '../../src/console/pages/team/audit.ts'
import type * as team from '../../src/console/pages/team/users.ts'
import type { getSecondFactor } from '../../src/console/auth/second-factor/routes.ts'
import type { listSessions, listSessionsOfUser } from '../../src/console/auth/sessions.ts'

/**
 * The response of each console route, by path. The types come from the schemas that the server
 * validates its responses with. Times are ISO 8601 UTC. Amounts are strings of whole micro-units.
 */
export type ConsoleResponses = {
  readonly '/session': ResponseOf<typeof getSession>
  readonly '/sessions': ResponseOf<typeof listSessions>
  readonly '/second-factor': ResponseOf<typeof getSecondFactor>
  readonly '/overview': ResponseOf<typeof getOverview>
  readonly '/projects': ResponseOf<typeof projects.listProjects>
  readonly '/projects/:projectId': ResponseOf<typeof projects.getProject>
  readonly '/projects/:projectId/gallery-mode-preview': ResponseOf<typeof previewGalleryMode>
  readonly '/projects/:projectId/losses': ResponseOf<typeof previewLosses>
  readonly '/users/:userId/open-sessions': ResponseOf<typeof team.countOpenSessions>
  readonly '/keys': ResponseOf<typeof keys.listKeys>
  readonly '/key-usage': ResponseOf<typeof getKeyUsage>
  readonly '/permissions': ResponseOf<typeof keys.listPermissions>
  readonly '/webhooks': ResponseOf<typeof listWebhooks>
  readonly '/webhooks/:webhookId/deliveries': ResponseOf<typeof listWebhookDeliveries>
  readonly '/actions': ResponseOf<typeof playground.listActions>
  readonly '/playground/settings': ResponseOf<typeof playground.getPlaygroundSettings>
  readonly '/errors': ResponseOf<typeof playground.listErrors>
  readonly '/projects/:projectId/calibration/measurement': ResponseOf<typeof getMeasurement>
  readonly '/projects/:projectId/subjects': ResponseOf<typeof subjects.listSubjects>
  readonly '/projects/:projectId/subjects/:subjectId': ResponseOf<typeof subjects.getSubject>
  readonly '/projects/:projectId/cropped-faces': ResponseOf<typeof listCroppedFaces>
  readonly '/projects/:projectId/groups': ResponseOf<typeof groups.listAllGroups>
  readonly '/projects/:projectId/groups/:name': ResponseOf<typeof groups.countGroup>
  readonly '/deletions': ResponseOf<typeof deletions.listDeletions>
  readonly '/deletions/check': ResponseOf<typeof deletions.checkDeletions>
  readonly '/log': ResponseOf<typeof log.listLog>
  readonly '/log/:callId': ResponseOf<typeof log.getCall>
  readonly '/analytics/calls': ResponseOf<typeof analytics.callsChart>
  readonly '/analytics/latency': ResponseOf<typeof analytics.latencyChart>
  readonly '/analytics/scores': ResponseOf<typeof analytics.scoresChart>
  readonly '/analytics/spend': ResponseOf<typeof analytics.spendChart>
  readonly '/money': ResponseOf<typeof getMoney>
  readonly '/money/ledger': ResponseOf<typeof ledger.listLedger>
  readonly '/money/verify': ResponseOf<typeof ledger.verifyLedger>
  readonly '/money/reconcile': ResponseOf<typeof ledger.reconcileLedger>
  readonly '/models': ResponseOf<typeof getModels>
  readonly '/users': ResponseOf<typeof team.listTeam>
  readonly '/users/:userId/sessions': ResponseOf<typeof listSessionsOfUser>
  readonly '/audit/acts': ResponseOf<typeof listAuditActs>
  readonly '/audit': ResponseOf<typeof listAudit>
  readonly '/system/history': ResponseOf<typeof getSystemHistory>
  readonly '/system': ResponseOf<typeof getSystem>
}

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
export type PlaygroundResponse = ResponseOf<typeof playground.runPlaygroundCall>
export type PlaygroundChallenge = ResponseOf<typeof playground.createPlaygroundChallenge>
export type ConsoleSubject = ConsoleResponses['/projects/:projectId/subjects/:subjectId']
export type SubjectGroupChanges = ResponseOf<typeof bulkChanges.changeGroups>
export type DeletedSubjectsReport = ResponseOf<typeof bulkChanges.removeSubjects>
export type ImportedRows = ResponseOf<typeof importSubjects>
export type MergedSubject = ResponseOf<typeof mergeIntoSubject>
export type ConsoleGroup = ConsoleResponses['/projects/:projectId/groups']['items'][number]
export type ConsoleDeletion = ConsoleResponses['/deletions']['items'][number]
export type CallLogEntry = ConsoleResponses['/log']['items'][number]
export type LoggedCallDetails = ConsoleResponses['/log/:callId']
export type ScoreHistogram = ConsoleResponses['/analytics/scores']
export type MoneySummary = ConsoleResponses['/money']
export type ConsoleTransfer = ConsoleResponses['/money/ledger']['items'][number]
export type ConsolePosting = ConsoleTransfer['postings'][number]
export type ModelsOverview = ConsoleResponses['/models']
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

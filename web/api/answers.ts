import type * as analytics from '../../src/console/analytics.ts'
import type * as deletions from '../../src/console/deletions.ts'
import type { previewGalleryMode } from '../../src/console/gallery-mode.ts'
import type * as groups from '../../src/console/groups.ts'
import type * as keys from '../../src/console/keys.ts'
import type * as log from '../../src/console/log.ts'
import type { getModels } from '../../src/console/models.ts'
import type * as ledger from '../../src/console/money-ledger.ts'
import type { getMoney } from '../../src/console/money.ts'
import type { getOverview } from '../../src/console/overview.ts'
import type * as playground from '../../src/console/playground.ts'
import type * as projects from '../../src/console/projects.ts'
import type { AnswerOf } from '../../src/console/route.ts'
import type { getSession } from '../../src/console/session.ts'
import type * as subjects from '../../src/console/subjects.ts'
import type { getSystem } from '../../src/console/system.ts'
import type * as team from '../../src/console/team.ts'

/**
 * What the console's routes answer, by their path: the types of the schemas that the server holds
 * its answers against. Times are ISO 8601 UTC, money is a text of whole micro-units.
 */
export type Answers = {
  readonly '/session': AnswerOf<typeof getSession>
  readonly '/overview': AnswerOf<typeof getOverview>
  readonly '/projects': AnswerOf<typeof projects.listProjects>
  readonly '/projects/:projectId': AnswerOf<typeof projects.getProject>
  readonly '/projects/:projectId/gallery-mode-preview': AnswerOf<typeof previewGalleryMode>
  readonly '/keys': AnswerOf<typeof keys.listKeys>
  readonly '/permissions': AnswerOf<typeof keys.listPermissions>
  readonly '/actions': AnswerOf<typeof playground.listActions>
  readonly '/errors': AnswerOf<typeof playground.listErrors>
  readonly '/projects/:projectId/subjects': AnswerOf<typeof subjects.listSubjects>
  readonly '/projects/:projectId/subjects/:subjectId': AnswerOf<typeof subjects.getSubject>
  readonly '/projects/:projectId/groups': AnswerOf<typeof groups.listAllGroups>
  readonly '/projects/:projectId/groups/:name': AnswerOf<typeof groups.countGroup>
  readonly '/projects/:projectId/deletions': AnswerOf<typeof deletions.listDeletions>
  readonly '/projects/:projectId/deletions/check': AnswerOf<typeof deletions.checkDeletions>
  readonly '/log': AnswerOf<typeof log.listLog>
  readonly '/log/:callId': AnswerOf<typeof log.getCall>
  readonly '/analytics/calls': AnswerOf<typeof analytics.callsChart>
  readonly '/analytics/latency': AnswerOf<typeof analytics.latencyChart>
  readonly '/analytics/scores': AnswerOf<typeof analytics.scoresChart>
  readonly '/analytics/spend': AnswerOf<typeof analytics.spendChart>
  readonly '/money': AnswerOf<typeof getMoney>
  readonly '/money/ledger': AnswerOf<typeof ledger.listLedger>
  readonly '/money/verify': AnswerOf<typeof ledger.verifyLedger>
  readonly '/money/reconcile': AnswerOf<typeof ledger.reconcileLedger>
  readonly '/models': AnswerOf<typeof getModels>
  readonly '/users': AnswerOf<typeof team.listTeam>
  readonly '/audit': AnswerOf<typeof team.listAudit>
  readonly '/system': AnswerOf<typeof getSystem>
}

/** A part of a list and where the next part begins. */
export type Page<Item> = { readonly items: readonly Item[]; readonly nextCursor: string | null }

export type Session = Answers['/session']
export type Overview = Answers['/overview']
export type Alert = Overview['alerts'][number]
export type Budget = Overview['budgets'][number]
export type Project = Answers['/projects/:projectId']
export type GalleryModePreview = Answers['/projects/:projectId/gallery-mode-preview']
export type Key = Answers['/keys']['items'][number]
export type Permission = Answers['/permissions'][number]
export type ActionFacts = Answers['/actions'][number]
export type ErrorFacts = Answers['/errors'][number]
export type PlaygroundAnswer = AnswerOf<typeof playground.play>
export type Subject = Answers['/projects/:projectId/subjects/:subjectId']
export type Group = Answers['/projects/:projectId/groups']['items'][number]
export type Deletion = Answers['/projects/:projectId/deletions']['items'][number]
export type Call = Answers['/log']['items'][number]
export type CallDetail = Answers['/log/:callId']
export type ScoreHistogram = Answers['/analytics/scores']
export type Money = Answers['/money']
export type Transfer = Answers['/money/ledger']['items'][number]
export type Posting = Transfer['postings'][number]
export type Models = Answers['/models']
export type CalibrationPoint = NonNullable<Models['calibration']>['points'][number]
export type User = Answers['/users']['items'][number]
export type Role = User['role']
export type AuditEntry = Answers['/audit']['items'][number]
export type SystemFacts = Answers['/system']

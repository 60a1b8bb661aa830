import * as attributeFilter from '../../../src/store/gallery/search/attribute-filter.ts'
import * as auditLog from '../../../src/store/console/audit-log.ts'
import * as balances from '../../../src/store/billing/balances.ts'
import * as cameraChanges from '../../../src/store/webhooks/camera-changes.ts'
import * as callCharts from '../../../src/store/console/call-charts.ts'
import * as calls from '../../../src/store/gate/calls.ts'
import * as certificateKeys from '../../../src/store/tenancy/certificate-keys.ts'
import * as changedDecisions from '../../../src/store/gate/changed-decisions.ts'
import * as crops from '../../../src/store/gallery/crops.ts'
import * as deletionChain from '../../../src/store/gallery/deletion-chain.ts'
import * as deletions from '../../../src/store/gallery/deletions.ts'
import * as expiredSubjects from '../../../src/store/gallery/expired-subjects.ts'
import * as faceRanges from '../../../src/store/gallery/search/face-ranges.ts'
import * as faces from '../../../src/store/gallery/faces.ts'
import * as galleryPages from '../../../src/store/gallery/search/gallery-pages.ts'
import * as galleries from '../../../src/store/gallery/galleries.ts'
import * as groups from '../../../src/store/gallery/groups.ts'
import * as initialProject from '../../../src/store/tenancy/create-initial-project.ts'
import * as matchVerdicts from '../../../src/store/gallery/feedback/match-verdicts.ts'
import * as matchDays from '../../../src/store/gallery/feedback/match-days.ts'
import * as nearMissCrops from '../../../src/store/gallery/feedback/near-miss-crops.ts'
import * as keyUsage from '../../../src/store/console/key-usage.ts'
import * as keyChanges from '../../../src/store/tenancy/key-changes.ts'
import * as keyList from '../../../src/store/tenancy/key-list.ts'
import * as keys from '../../../src/store/tenancy/keys.ts'
import * as ledgerAudit from '../../../src/store/billing/ledger-audit.ts'
import * as ledgerTransfers from '../../../src/store/billing/ledger-transfers.ts'
import * as livenessChallenges from '../../../src/store/gate/liveness-challenges.ts'
import * as livenessSessions from '../../../src/store/gate/liveness-sessions.ts'
import * as modelCoverage from '../../../src/store/gallery/model-coverage.ts'
import * as prices from '../../../src/store/billing/prices.ts'
import * as projectDeletion from '../../../src/store/tenancy/project-deletion.ts'
import * as projectSummaries from '../../../src/store/tenancy/project-summaries.ts'
import * as projects from '../../../src/store/tenancy/projects.ts'
import * as removals from '../../../src/store/gallery/removals.ts'
import * as retireModel from '../../../src/store/gallery/retire-model.ts'
import * as secondFactors from '../../../src/store/console/second-factors.ts'
import * as sessions from '../../../src/store/console/sessions.ts'
import * as storedResponses from '../../../src/store/gate/stored-responses.ts'
import * as subjects from '../../../src/store/gallery/subjects.ts'
import * as systemHistory from '../../../src/store/system/system-history.ts'
import * as switches from '../../../src/store/tenancy/switches.ts'
import * as templates from '../../../src/store/gallery/templates.ts'
import * as users from '../../../src/store/console/users.ts'
import * as visitors from '../../../src/store/gallery/visitors.ts'
import * as webhookDeliveries from '../../../src/store/webhooks/deliveries.ts'
import * as eventTypes from '../../../src/store/webhooks/event-types.ts'
import * as webhookEvents from '../../../src/store/webhooks/events.ts'
import * as expiringKeys from '../../../src/store/webhooks/expiring-keys.ts'
import * as webhooks from '../../../src/store/webhooks/webhooks.ts'

const allQueries = {
  ...attributeFilter,
  ...auditLog,
  ...balances,
  ...callCharts,
  ...cameraChanges,
  ...calls,
  ...certificateKeys,
  ...changedDecisions,
  ...crops,
  ...deletionChain,
  ...deletions,
  ...expiredSubjects,
  ...faceRanges,
  ...faces,
  ...galleries,
  ...galleryPages,
  ...groups,
  ...initialProject,
  ...keyChanges,
  ...keyUsage,
  ...matchVerdicts,
  ...matchDays,
  ...nearMissCrops,
  ...keyList,
  ...keys,
  ...ledgerAudit,
  ...ledgerTransfers,
  ...livenessChallenges,
  ...livenessSessions,
  ...modelCoverage,
  ...prices,
  ...projectDeletion,
  ...projectSummaries,
  ...projects,
  ...removals,
  ...retireModel,
  ...secondFactors,
  ...sessions,
  ...storedResponses,
  ...subjects,
  ...systemHistory,
  ...switches,
  ...templates,
  ...users,
  ...visitors,
  ...webhookDeliveries,
  ...eventTypes,
  ...webhookEvents,
  ...expiringKeys,
  ...webhooks,
}

const calledQueries = new Set<string>()

/** All queries of the store. Each call is recorded. */
export const queries = Object.fromEntries(
  Object.entries(allQueries).map(([name, value]: [string, unknown]) => {
    if (typeof value !== 'function') return [name, value]
    return [name, (...args: unknown[]): unknown => (calledQueries.add(name), value(...args))]
  }),
) as typeof allQueries // The same names and types.

/** Functions that use no database. */
const pureFunctions = new Set(
  (
    'createKeyFinders identityOf keyState hasFormerSecretEnded parsePermissions keySummaryOf walletLedger budgetLedger switchesFromColumns columnsFromSwitches ' +
    'userNameKey deletionHash isNextInChain selectOrderedTemplates selectStoredTemplates joinStoredTemplates galleryIdOf ' +
    'parseEventTypes unfrozenProjects isUnfrozen accountProjectIds hasExpired anyDenials'
  ).split(' '),
)

/** Returns the names of queries that were not called. */
export function uncalledQueries(): string[] {
  return Object.entries(allQueries)
    .filter(
      ([name, value]) =>
        typeof value === 'function' && !pureFunctions.has(name) && !calledQueries.has(name),
    )
    .map(([name]) => name)
}

import * as adminActs from '../../../src/store/console/audit-log.ts'
import * as answers from '../../../src/store/gate/stored-responses.ts'
import * as attemptFacts from '../../../src/store/gate/attempt-status.ts'
import * as audit from '../../../src/store/billing/ledger-audit.ts'
import * as balances from '../../../src/store/billing/balances.ts'
import * as callCharts from '../../../src/store/console/call-charts.ts'
import * as calls from '../../../src/store/gate/calls.ts'
import * as crops from '../../../src/store/gallery/crops.ts'
import * as deletionChain from '../../../src/store/gallery/deletion-chain.ts'
import * as deletions from '../../../src/store/gallery/deletions.ts'
import * as faces from '../../../src/store/gallery/faces.ts'
import * as firstStart from '../../../src/store/tenancy/create-initial-project.ts'
import * as galleries from '../../../src/store/gallery/galleries.ts'
import * as groups from '../../../src/store/gallery/groups.ts'
import * as keyPages from '../../../src/store/tenancy/key-list.ts'
import * as keys from '../../../src/store/tenancy/keys.ts'
import * as links from '../../../src/store/console/invite-links.ts'
import * as modelCounts from '../../../src/store/gallery/model-coverage.ts'
import * as prices from '../../../src/store/billing/prices.ts'
import * as projectFacts from '../../../src/store/tenancy/project-summaries.ts'
import * as projects from '../../../src/store/tenancy/projects.ts'
import * as retire from '../../../src/store/gallery/retire-model.ts'
import * as sessions from '../../../src/store/console/sessions.ts'
import * as subjects from '../../../src/store/gallery/subjects.ts'
import * as switches from '../../../src/store/tenancy/switches.ts'
import * as templateCounts from '../../../src/store/gallery/template-counts.ts'
import * as templates from '../../../src/store/gallery/templates.ts'
import * as transfers from '../../../src/store/billing/ledger-transfers.ts'
import * as users from '../../../src/store/console/users.ts'

const allQueries = {
  ...adminActs,
  ...answers,
  ...attemptFacts,
  ...audit,
  ...balances,
  ...callCharts,
  ...calls,
  ...crops,
  ...deletions,
  ...deletionChain,
  ...faces,
  ...firstStart,
  ...galleries,
  ...groups,
  ...keyPages,
  ...keys,
  ...links,
  ...modelCounts,
  ...prices,
  ...projectFacts,
  ...projects,
  ...retire,
  ...sessions,
  ...subjects,
  ...switches,
  ...templateCounts,
  ...templates,
  ...transfers,
  ...users,
}

const calledQueries = new Set<string>()

/** Every query of the store, noted down when it is asked. */
export const queries = Object.fromEntries(
  Object.entries(allQueries).map(([name, value]: [string, unknown]) => {
    if (typeof value !== 'function') return [name, value]
    return [name, (...args: unknown[]): unknown => (calledQueries.add(name), value(...args))]
  }),
) as typeof allQueries // The same names; each does what it did.

/** What asks no database. */
const pureFunctions = new Set(
  (
    'createKeyFinder keyState parsePermissions keySummaryOf walletLedger budgetLedger switchesFromColumns columnsFromSwitches ' +
    'userNameKey deletionHash isNextInChain'
  ).split(' '),
)

/** Queries that nobody has asked yet. */
export function uncalledQueries(): string[] {
  return Object.entries(allQueries)
    .filter(
      ([name, value]) =>
        typeof value === 'function' && !pureFunctions.has(name) && !calledQueries.has(name),
    )
    .map(([name]) => name)
}

import * as adminActs from '../../src/store/admin-acts.ts'
import * as answers from '../../src/store/answers.ts'
import * as attemptFacts from '../../src/store/attempt-facts.ts'
import * as audit from '../../src/store/audit.ts'
import * as balances from '../../src/store/balances.ts'
import * as callCharts from '../../src/store/call-charts.ts'
import * as calls from '../../src/store/calls.ts'
import * as crops from '../../src/store/crops.ts'
import * as deletionChain from '../../src/store/deletion-chain.ts'
import * as deletions from '../../src/store/deletions.ts'
import * as faces from '../../src/store/faces.ts'
import * as firstStart from '../../src/store/first-start.ts'
import * as galleries from '../../src/store/galleries.ts'
import * as groups from '../../src/store/groups.ts'
import * as keyPages from '../../src/store/key-pages.ts'
import * as keys from '../../src/store/keys.ts'
import * as links from '../../src/store/links.ts'
import * as modelCounts from '../../src/store/model-counts.ts'
import * as prices from '../../src/store/prices.ts'
import * as projectFacts from '../../src/store/project-facts.ts'
import * as projects from '../../src/store/projects.ts'
import * as retire from '../../src/store/retire.ts'
import * as sessions from '../../src/store/sessions.ts'
import * as subjects from '../../src/store/subjects.ts'
import * as switches from '../../src/store/switches.ts'
import * as templateCounts from '../../src/store/template-counts.ts'
import * as templates from '../../src/store/templates.ts'
import * as transfers from '../../src/store/transfers.ts'
import * as users from '../../src/store/users.ts'

const all = {
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

const asked = new Set<string>()

/** Every query of the store, noted down when it is asked. */
export const ask = Object.fromEntries(
  Object.entries(all).map(([name, value]: [string, unknown]) => {
    if (typeof value !== 'function') return [name, value]
    return [name, (...args: unknown[]): unknown => (asked.add(name), value(...args))]
  }),
) as typeof all // The same names; each does what it did.

/** What asks no database. */
const pure = new Set(
  (
    'keyFinder keyState parsePermissions listingOf walletOf budgetOf switchesOf switchColumns ' +
    'nameKeyOf deletionHash followsIn'
  ).split(' '),
)

/** Queries that nobody has asked yet. */
export function notAsked(): string[] {
  return Object.entries(all)
    .filter(([name, value]) => typeof value === 'function' && !pure.has(name) && !asked.has(name))
    .map(([name]) => name)
}

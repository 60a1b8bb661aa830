import * as cameras from './analytics/cameras.ts'
import * as charts from './analytics/charts.ts'
import * as overview from './analytics/overview.ts'
import * as openSessions from './auth/open-sessions.ts'
import * as secondFactorRoutes from './auth/second-factor/second-factor-routes.ts'
import * as setup from './auth/setup.ts'
import * as signIn from './auth/sign-in.ts'
import * as callLog from './pages/call-log.ts'
import * as feedback from './pages/feedback.ts'
import * as bulkChanges from './pages/gallery/bulk-changes.ts'
import * as crops from './pages/gallery/crops.ts'
import * as deletions from './pages/gallery/deletions.ts'
import * as groups from './pages/gallery/groups.ts'
import * as health from './pages/gallery/health.ts'
import * as matchDays from './pages/gallery/match-days.ts'
import * as subjectsCsv from './pages/gallery/subjects-csv.ts'
import * as subjects from './pages/gallery/subjects.ts'
import * as visitors from './pages/gallery/visitors.ts'
import * as keyUsage from './pages/keys/key-usage.ts'
import * as keys from './pages/keys/keys.ts'
import * as ledger from './pages/money/ledger.ts'
import * as walletAndBudgets from './pages/money/wallet-and-budgets.ts'
import * as playground from './pages/playground.ts'
import * as projectEffects from './pages/project-effects.ts'
import * as projects from './pages/projects.ts'
import * as calibrations from './pages/system/calibrations.ts'
import * as history from './pages/system/history.ts'
import * as measurements from './pages/system/measurements.ts'
import * as modelCommands from './pages/system/model-commands.ts'
import * as models from './pages/system/models.ts'
import * as system from './pages/system/system.ts'
import * as audit from './pages/team/audit.ts'
import * as users from './pages/team/users.ts'
import * as deliveries from './pages/webhooks/deliveries.ts'
import * as webhooks from './pages/webhooks/webhooks.ts'
import type { ConsoleRoute } from './server/console-route.ts'

/** The modules by page. Each route that one of them exports is served. */
const modulesByPage = [
  [setup, signIn, openSessions, secondFactorRoutes],
  [overview, charts, cameras, callLog, feedback],
  [projects, projectEffects],
  [keys, keyUsage],
  [webhooks, deliveries],
  [playground],
  [subjects, subjectsCsv, bulkChanges, health, crops, matchDays, visitors],
  [groups, deletions],
  [walletAndBudgets, ledger],
  [models, modelCommands, calibrations, measurements],
  [users, audit],
  [system, history],
] as const

type ExportOf<Module> = Module extends unknown ? Module[keyof Module] : never

/** One type for each route; the types of requests and responses in the browser are derived from it. */
export type ServedRoute = Extract<
  ExportOf<(typeof modulesByPage)[number][number]>,
  Pick<ConsoleRoute, 'method' | 'path' | 'minimumRole'>
>

/** All console routes. */
export const consoleRoutes: readonly ConsoleRoute[] = modulesByPage
  .flat()
  .flatMap((module) => Object.values(module).filter(isRoute))

/** The modules also export functions and schemas. */
function isRoute(exported: unknown): exported is ConsoleRoute {
  return typeof exported === 'object' && exported !== null && 'method' in exported
}

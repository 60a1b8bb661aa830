import {
  createRootRoute,
  createRoute,
  createRouter,
  Navigate,
  type SearchMiddleware,
} from '@tanstack/react-router'
import { AuthGate } from '../auth/auth-gate.tsx'
import { NotFoundPage } from './not-found-page.tsx'
import { ErrorPage } from './error-page.tsx'
import { lazyRouteComponent } from './lazy-page.ts'
import { PendingPage } from './pending-page.tsx'
import {
  parseSearch,
  stringifySearch,
  textSearchParams,
  type TextSearchParams,
} from './search-params.ts'

/** Keeps the selected project when the user opens another page. */
const keepProjectId: SearchMiddleware<TextSearchParams<'projectId'>> = ({ search, next }) => ({
  projectId: search.projectId,
  ...next(search),
})

/** The state of a list that the server divides into pages. */
const listParams = ['sort', 'limit', 'cursor'] as const

/** The pages and the search parameters of each. Each page is a separate chunk. */
const rootRoute = createRootRoute({
  component: AuthGate,
  notFoundComponent: NotFoundPage,
  errorComponent: ErrorPage,
  validateSearch: textSearchParams('projectId'),
  search: { middlewares: [keepProjectId] },
})

const overview = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  validateSearch: textSearchParams('days'),
  component: lazyRouteComponent(() => import('../overview/overview-page.tsx'), 'OverviewPage'),
})
const live = createRoute({
  getParentRoute: () => rootRoute,
  path: '/live',
  component: lazyRouteComponent(() => import('../live/live-page.tsx'), 'LivePage'),
})
const log = createRoute({
  getParentRoute: () => rootRoute,
  path: '/log',
  validateSearch: textSearchParams(
    'keyId',
    'action',
    'code',
    'result',
    'outcome',
    'nearMiss',
    'fromUtc',
    'toUtc',
    'period',
    'requestId',
    'refresh',
    ...listParams,
    'call',
  ),
  component: lazyRouteComponent(() => import('../log/log-page.tsx'), 'LogPage'),
})
const analytics = createRoute({
  getParentRoute: () => rootRoute,
  path: '/analytics',
  validateSearch: textSearchParams('by', 'action', 'keyId', 'fromUtc', 'toUtc', 'period', 'bucket'),
  component: lazyRouteComponent(() => import('../analytics/analytics-page.tsx'), 'AnalyticsPage'),
})
const playground = createRoute({
  getParentRoute: () => rootRoute,
  path: '/playground',
  validateSearch: textSearchParams('action'),
  component: lazyRouteComponent(
    () => import('../playground/playground-page.tsx'),
    'PlaygroundPage',
  ),
})
const pairTester = createRoute({
  getParentRoute: () => rootRoute,
  path: '/pair-tester',
  component: lazyRouteComponent(
    () => import('../pair-tester/pair-tester-page.tsx'),
    'PairTesterPage',
  ),
})
const subjects = createRoute({
  getParentRoute: () => rootRoute,
  path: '/subjects',
  validateSearch: textSearchParams(
    'q',
    'externalId',
    'group',
    'createdFromUtc',
    'createdToUtc',
    'period',
    'tab',
    'ignored',
    ...listParams,
    'subject',
    'visitor',
  ),
  component: lazyRouteComponent(() => import('../gallery/subjects-page.tsx'), 'SubjectsPage'),
})
const groups = createRoute({
  getParentRoute: () => rootRoute,
  path: '/groups',
  validateSearch: textSearchParams('q', 'group', ...listParams),
  component: lazyRouteComponent(() => import('../gallery/groups/groups-page.tsx'), 'GroupsPage'),
})
const galleryHealth = createRoute({
  getParentRoute: () => rootRoute,
  path: '/gallery-health',
  validateSearch: textSearchParams('tab', 'issue', 'subject'),
  component: lazyRouteComponent(
    () => import('../gallery/health/health-page.tsx'),
    'GalleryHealthPage',
  ),
})
const deletions = createRoute({
  getParentRoute: () => rootRoute,
  path: '/deletions',
  validateSearch: textSearchParams(
    'subjectId',
    'externalId',
    'fromUtc',
    'toUtc',
    'period',
    ...listParams,
  ),
  component: lazyRouteComponent(
    () => import('../gallery/deletions/deletions-page.tsx'),
    'DeletionsPage',
  ),
})
const deletion = createRoute({
  getParentRoute: () => rootRoute,
  path: '/deletions/$subjectId',
  component: lazyRouteComponent(
    () => import('../gallery/deletions/deletion-page.tsx'),
    'DeletionPage',
  ),
})
const projects = createRoute({
  getParentRoute: () => rootRoute,
  path: '/projects',
  validateSearch: textSearchParams('sort'),
  component: lazyRouteComponent(() => import('../projects/projects-page.tsx'), 'ProjectsPage'),
})
const project = createRoute({
  getParentRoute: () => rootRoute,
  path: '/projects/$id',
  component: lazyRouteComponent(() => import('../projects/project-page.tsx'), 'ProjectPage'),
})
const webhooks = createRoute({
  getParentRoute: () => rootRoute,
  path: '/webhooks',
  validateSearch: textSearchParams('webhook', 'sort', 'cursor', 'state', 'type'),
  component: lazyRouteComponent(() => import('../webhooks/webhooks-page.tsx'), 'WebhooksPage'),
})
const keys = createRoute({
  getParentRoute: () => rootRoute,
  path: '/keys',
  validateSearch: textSearchParams('state', 'key', ...listParams),
  component: lazyRouteComponent(() => import('../keys/keys-page.tsx'), 'KeysPage'),
})
const money = createRoute({
  getParentRoute: () => rootRoute,
  path: '/money',
  component: lazyRouteComponent(() => import('../money/money-page.tsx'), 'MoneyPage'),
})
const ledger = createRoute({
  getParentRoute: () => rootRoute,
  path: '/money/ledger',
  validateSearch: textSearchParams('kind', 'fromUtc', 'toUtc', 'period', ...listParams, 'transfer'),
  component: lazyRouteComponent(() => import('../money/ledger/ledger-page.tsx'), 'LedgerPage'),
})
const models = createRoute({
  getParentRoute: () => rootRoute,
  path: '/models',
  validateSearch: textSearchParams('calibrate', 'model', 'install'),
  component: lazyRouteComponent(() => import('../system/models/models-page.tsx'), 'ModelsPage'),
})
const team = createRoute({
  getParentRoute: () => rootRoute,
  path: '/team',
  validateSearch: textSearchParams('sort'),
  component: lazyRouteComponent(() => import('../team/team-page.tsx'), 'TeamPage'),
})
const audit = createRoute({
  getParentRoute: () => rootRoute,
  path: '/team/audit',
  validateSearch: textSearchParams(
    'userId',
    'auditAction',
    'kind',
    'fromUtc',
    'toUtc',
    'period',
    ...listParams,
  ),
  component: lazyRouteComponent(() => import('../team/audit-page.tsx'), 'AuditPage'),
})
const system = createRoute({
  getParentRoute: () => rootRoute,
  path: '/system',
  component: lazyRouteComponent(() => import('../system/system-page.tsx'), 'SystemPage'),
})
const account = createRoute({
  getParentRoute: () => rootRoute,
  path: '/account',
  component: lazyRouteComponent(() => import('../auth/account-page.tsx'), 'AccountPage'),
})
const setup = createRoute({
  getParentRoute: () => rootRoute,
  path: '/setup',
  validateSearch: textSearchParams('name'),
  // AuthGate handles setup links. Without a token there is nothing to set up.
  component: () => <Navigate to="/" replace />,
})

const routeTree = rootRoute.addChildren([
  overview,
  live,
  log,
  analytics,
  playground,
  pairTester,
  subjects,
  galleryHealth,
  groups,
  deletions,
  deletion,
  projects,
  project,
  keys,
  webhooks,
  money,
  ledger,
  models,
  team,
  audit,
  system,
  account,
  setup,
])

export function createConsoleRouter() {
  return createRouter({
    routeTree,
    parseSearch,
    stringifySearch,
    defaultPendingComponent: PendingPage,
    defaultPreload: 'intent',
    scrollRestoration: true,
  })
}

declare module '@tanstack/react-router' {
  // The router requires this declaration to type its hooks.
  interface Register {
    readonly router: ReturnType<typeof createConsoleRouter>
  }
}

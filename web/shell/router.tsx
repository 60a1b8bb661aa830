import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  type SearchMiddleware,
} from '@tanstack/react-router'
import { Gatekeeper } from './gatekeeper.tsx'
import { NotFound } from './not-found.tsx'
import { PageFault } from './page-fault.tsx'
import { parseSearch, stringifySearch, textSearch, type TextSearch } from './search.ts'

/** The project that one looks at stays the same from page to page. */
const keepProject: SearchMiddleware<TextSearch<'projectId'>> = ({ search, next }) => ({
  projectId: search.projectId,
  ...next(search),
})

/** Every page and the state that its address bears. Each page is a chunk of its own. */
const root = createRootRoute({
  component: Gatekeeper,
  notFoundComponent: NotFound,
  errorComponent: PageFault,
  validateSearch: textSearch('projectId'),
  search: { middlewares: [keepProject] },
})

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: textSearch('days'),
  component: lazyRouteComponent(() => import('../pages/overview.tsx'), 'OverviewPage'),
})
const log = createRoute({
  getParentRoute: () => root,
  path: '/log',
  validateSearch: textSearch(
    'keyId',
    'action',
    'code',
    'fromUtc',
    'toUtc',
    'requestId',
    'cursor',
    'call',
  ),
  component: lazyRouteComponent(() => import('../pages/log.tsx'), 'LogPage'),
})
const analytics = createRoute({
  getParentRoute: () => root,
  path: '/analytics',
  validateSearch: textSearch('by', 'action', 'keyId', 'fromUtc', 'toUtc', 'bucket'),
  component: lazyRouteComponent(() => import('../pages/analytics.tsx'), 'AnalyticsPage'),
})
const playground = createRoute({
  getParentRoute: () => root,
  path: '/playground',
  validateSearch: textSearch('action'),
  component: lazyRouteComponent(() => import('../pages/playground.tsx'), 'PlaygroundPage'),
})
const documentation = createRoute({
  getParentRoute: () => root,
  path: '/documentation',
  validateSearch: textSearch('topic'),
  component: lazyRouteComponent(() => import('../pages/documentation.tsx'), 'DocumentationPage'),
})
const subjects = createRoute({
  getParentRoute: () => root,
  path: '/subjects',
  validateSearch: textSearch(
    'q',
    'externalId',
    'group',
    'createdFromUtc',
    'createdToUtc',
    'cursor',
    'subject',
  ),
  component: lazyRouteComponent(() => import('../pages/subjects.tsx'), 'SubjectsPage'),
})
const groups = createRoute({
  getParentRoute: () => root,
  path: '/groups',
  validateSearch: textSearch('q', 'cursor'),
  component: lazyRouteComponent(() => import('../pages/groups.tsx'), 'GroupsPage'),
})
const deletions = createRoute({
  getParentRoute: () => root,
  path: '/deletions',
  validateSearch: textSearch('subjectId', 'externalId', 'fromUtc', 'toUtc', 'cursor'),
  component: lazyRouteComponent(() => import('../pages/deletions.tsx'), 'DeletionsPage'),
})
const projects = createRoute({
  getParentRoute: () => root,
  path: '/projects',
  component: lazyRouteComponent(() => import('../pages/projects.tsx'), 'ProjectsPage'),
})
const project = createRoute({
  getParentRoute: () => root,
  path: '/projects/$id',
  component: lazyRouteComponent(() => import('../pages/project.tsx'), 'ProjectPage'),
})
const keys = createRoute({
  getParentRoute: () => root,
  path: '/keys',
  validateSearch: textSearch('state', 'cursor'),
  component: lazyRouteComponent(() => import('../pages/keys.tsx'), 'KeysPage'),
})
const money = createRoute({
  getParentRoute: () => root,
  path: '/money',
  component: lazyRouteComponent(() => import('../pages/money.tsx'), 'MoneyPage'),
})
const ledger = createRoute({
  getParentRoute: () => root,
  path: '/money/ledger',
  validateSearch: textSearch('kind', 'fromUtc', 'toUtc', 'cursor', 'transfer'),
  component: lazyRouteComponent(() => import('../pages/ledger.tsx'), 'LedgerPage'),
})
const models = createRoute({
  getParentRoute: () => root,
  path: '/models',
  component: lazyRouteComponent(() => import('../pages/models.tsx'), 'ModelsPage'),
})
const team = createRoute({
  getParentRoute: () => root,
  path: '/team',
  component: lazyRouteComponent(() => import('../pages/team.tsx'), 'TeamPage'),
})
const audit = createRoute({
  getParentRoute: () => root,
  path: '/team/audit',
  validateSearch: textSearch('userId', 'act', 'fromUtc', 'toUtc', 'cursor'),
  component: lazyRouteComponent(() => import('../pages/audit.tsx'), 'AuditPage'),
})
const system = createRoute({
  getParentRoute: () => root,
  path: '/system',
  component: lazyRouteComponent(() => import('../pages/system.tsx'), 'SystemPage'),
})
const account = createRoute({
  getParentRoute: () => root,
  path: '/account',
  component: lazyRouteComponent(() => import('../pages/account.tsx'), 'AccountPage'),
})
const setup = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  validateSearch: textSearch('name'),
  // The gatekeeper shows the page of a link; whoever comes here without one is past that.
  component: () => <Navigate to="/" replace />,
})

const routeTree = root.addChildren([
  overview,
  log,
  analytics,
  playground,
  documentation,
  subjects,
  groups,
  deletions,
  projects,
  project,
  keys,
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
    defaultPreload: 'intent',
    scrollRestoration: true,
  })
}

declare module '@tanstack/react-router' {
  // The router's own way of telling its hooks which pages there are.
  interface Register {
    readonly router: ReturnType<typeof createConsoleRouter>
  }
}

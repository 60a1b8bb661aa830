import { allActions } from '../actions/all-actions.ts'
import { changePermissions } from '../actions/parts/subject-permissions.ts'
import { restRoutes } from './routes/rest-routes.ts'

export type PermissionInfo = { readonly permission: string; readonly summary: string }

const summariesOf = (permission: string): string[] =>
  restRoutes.filter((route) => route.permission === permission).map(({ summary }) => summary)

const { permission: force } = changePermissions.force

/** They have a separate summary. */
const otherPermissions: ReadonlySet<string> = new Set([
  force,
  ...allActions.map(({ name }) => name),
])

/** The permissions of routes that are not the permission of an action. */
const routePermissions = [
  ...new Set(restRoutes.flatMap(({ permission }) => permission ?? [])),
].filter((permission) => !otherPermissions.has(permission))

/** Every permission of a key: one for each action, those of routes and of parameters, and `*`. */
export const allPermissions: readonly PermissionInfo[] = [
  ...allActions.map(({ name, summary }) => ({
    permission: name,
    summary: [summary, ...summariesOf(name)].join(' '),
  })),
  ...routePermissions.map((permission) => ({
    permission,
    summary: summariesOf(permission).join(' '),
  })),
  {
    permission: force,
    summary: 'Add faces that do not resemble the subject (`force`), and merge subjects.',
  },
  { permission: 'debug', summary: 'Request debug information about a result.' },
  { permission: '*', summary: 'Everything.' },
]

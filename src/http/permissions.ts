import { allActions } from '../actions/all-actions.ts'
import { restRoutes } from './routes/rest-routes.ts'

export type PermissionInfo = { readonly permission: string; readonly summary: string }

/** Every permission of a key: one for each action, those of the routes, `debug`, and `*`. */
export const allPermissions: readonly PermissionInfo[] = [
  ...allActions.map(({ name, summary }) => ({ permission: name, summary })),
  ...[...new Set(restRoutes.map(({ permission }) => permission))].map((permission) => ({
    permission,
    summary: restRoutes
      .filter((route) => route.permission === permission)
      .map(({ summary }) => summary)
      .join(' '),
  })),
  { permission: 'debug', summary: 'Request debug information about a result.' },
  { permission: '*', summary: 'Everything.' },
]

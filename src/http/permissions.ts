import { allActions } from '../actions/all-actions.ts'
import { restRoutes } from './routes/rest-routes.ts'

export type PermissionInfo = { readonly permission: string; readonly summary: string }

/** All that a key can be allowed: each action and route under its own permission, `debug`, and `*`. */
export const allPermissions: readonly PermissionInfo[] = [
  ...allActions.map(({ name, summary }) => ({ permission: name, summary })),
  ...[...new Set(restRoutes.map(({ permission }) => permission))].map((permission) => ({
    permission,
    summary: restRoutes
      .filter((route) => route.permission === permission)
      .map(({ summary }) => summary)
      .join(' '),
  })),
  { permission: 'debug', summary: 'Ask how an answer came about.' },
  { permission: '*', summary: 'Everything.' },
]

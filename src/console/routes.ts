import * as modules from './route-modules.ts'
import type { ConsoleRoute } from './server/console-route.ts'

type ExportOf<Module> = Module extends unknown ? Module[keyof Module] : never

/** One type for each route; the types of requests and responses in the browser are derived from it. */
export type ServedRoute = Extract<
  ExportOf<(typeof modules)[keyof typeof modules]>,
  Pick<ConsoleRoute, 'method' | 'path' | 'minimumRole'>
>

/** All console routes: those that a module of `route-modules.ts` exports. */
export const consoleRoutes: readonly ConsoleRoute[] = Object.values(modules).flatMap((module) =>
  Object.values<unknown>(module).filter(isRoute),
)

/** The modules also export functions and schemas. */
function isRoute(exported: unknown): exported is ConsoleRoute {
  return typeof exported === 'object' && exported !== null && 'method' in exported
}

import { lazyRouteComponent as lazyComponent } from '@tanstack/react-router'
import { whenReachable } from '../api/when-reachable.ts'

/**
 * Loads the component of a page when it is opened. Without a connection `PendingPage` is shown until
 * the server can be reached: the router would reload the browser page, which would then be lost.
 */
export const lazyRouteComponent: typeof lazyComponent = (importer, exportName) =>
  lazyComponent(() => whenReachable(importer), exportName)

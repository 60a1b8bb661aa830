import { modelCards } from './pages/model-cards.ts'
import { actionsPage } from './pages/actions-page.ts'
import { cliPage } from './pages/cli-page.ts'
import { configurationPage } from './pages/configuration-page.ts'
import { errorsPage } from './pages/errors-page.ts'
import { permissionsPage } from './pages/permissions-page.ts'
import { routePages } from './pages/route-pages.ts'

/** Pages that are generated from schemas, tables and manifests. `npm run docs` writes them. */
export const generatedPages: Readonly<Record<string, () => string>> = {
  'docs/configuration.md': configurationPage,
  'docs/reference/actions.md': actionsPage,
  'docs/reference/cli.md': cliPage,
  'docs/reference/errors.md': errorsPage,
  'docs/reference/permissions.md': permissionsPage,
  'docs/models.md': modelCards,
  ...routePages(),
}

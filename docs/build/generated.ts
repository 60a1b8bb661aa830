import { modelCards } from '../../eval/model-cards.ts'
import { actionsPage } from './actions-page.ts'
import { errorsPage } from './errors-page.ts'
import { permissionsPage } from './permissions-page.ts'

/** The pages that are made of schemas, tables and manifests; `npm run docs` writes them. */
export const generatedPages: Readonly<Record<string, () => string>> = {
  'docs/actions.md': actionsPage,
  'docs/errors.md': errorsPage,
  'docs/permissions.md': permissionsPage,
  'docs/models.md': modelCards,
}

import { runOnPostgres } from './support/database/engine.ts'

runOnPostgres({
  a: () => import('./gallery/search/gallery-page-changes.test.ts'),
  b: () => import('./gallery/search/gallery-pages.test.ts'),
  c: () => import('./gallery/search/parallel-load.test.ts'),
})

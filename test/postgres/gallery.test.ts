import { runOnPostgres } from '../support/database/engine.ts'

runOnPostgres({
  'compreface/merge': () => import('../compreface/merge.test.ts'),
  'compreface/routes': () => import('../compreface/routes.test.ts'),
  'gallery/actions': () => import('../gallery/actions.test.ts'),
  'gallery/crops': () => import('../gallery/crops.test.ts'),
  'gallery/deletion': () => import('../gallery/deletion.test.ts'),
  'gallery/expiry': () => import('../gallery/expiry.test.ts'),
  'gallery/group-deletion': () => import('../gallery/group-deletion.test.ts'),
  'gallery/isolation': () => import('../gallery/isolation.test.ts'),
  'gallery/removed-faces': () => import('../gallery/removed-faces.test.ts'),
  'gallery/search/gallery-page-changes': () =>
    import('../gallery/search/gallery-page-changes.test.ts'),
  'gallery/search/gallery-pages': () => import('../gallery/search/gallery-pages.test.ts'),
  'gallery/search/parallel-load': () => import('../gallery/search/parallel-load.test.ts'),
  'gallery/routes': () => import('../gallery/routes.test.ts'),
})

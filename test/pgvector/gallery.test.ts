import { runOnPgvector } from '../support/database/engine.ts'

runOnPgvector({
  'actions/identify-stored': () => import('../actions/identify-stored.test.ts'),
  'compreface/merge': () => import('../compreface/merge.test.ts'),
  'gallery/actions': () => import('../gallery/actions.test.ts'),
  'gallery/crops': () => import('../gallery/crops.test.ts'),
  'gallery/deletion': () => import('../gallery/deletion.test.ts'),
  'gallery/expiry': () => import('../gallery/expiry.test.ts'),
  'gallery/isolation': () => import('../gallery/isolation.test.ts'),
  'gallery/model-change': () => import('../gallery/model-change.test.ts'),
  'gallery/removed-faces': () => import('../gallery/removed-faces.test.ts'),
})

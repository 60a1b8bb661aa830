import { runOnPostgres } from '../support/database/engine.ts'

runOnPostgres({
  'gallery/calibration/gallery-calibration': () =>
    import('../gallery/calibration/gallery-calibration.test.ts'),
  'gallery/integrity': () => import('../gallery/integrity.test.ts'),
  'gallery/many-changes': () => import('../gallery/many-changes.test.ts'),
  'gallery/master-key': () => import('../gallery/master-key.test.ts'),
  'gallery/model-change': () => import('../gallery/model-change.test.ts'),
  'gallery/search/subject-search': () => import('../gallery/search/subject-search.test.ts'),
})

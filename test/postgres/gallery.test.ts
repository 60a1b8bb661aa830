import { runOnPostgres } from '../support/database/engine.ts'

runOnPostgres([
  'actions/names-and-groups',
  'gallery/calibration/gallery-calibration',
  'gallery/group-deletion',
  'gallery/health/gallery-check',
  'gallery/integrity',
  'gallery/many-changes',
  'gallery/master-key',
  'gallery/routes',
  'gallery/search/gallery-page-changes',
  'gallery/search/gallery-pages',
  'gallery/search/parallel-load',
  'gallery/search/subject-search',
  'gallery/subjects/many-responses',
  'gallery/subjects/subject-pages',
])

import { runOnPgvector } from '../support/database/engine.ts'

runOnPgvector([
  'actions/identify-stored',
  'cli/feedback',
  'cli/subjects',
  'cli/visitors',
  'console/gallery/visitors',
  'compreface/merge',
  'gallery/actions',
  'gallery/crops',
  'gallery/deletion',
  'gallery/expiry',
  'gallery/feedback/feedback',
  'gallery/feedback/near-miss-ends',
  'gallery/feedback/near-misses',
  'gallery/feedback/stored-denials',
  'gallery/isolation',
  'gallery/model-change',
  'gallery/removed-faces',
  'gallery/subjects/moved-faces',
  'gallery/subjects/visitor-changes',
  'gallery/subjects/visitors',
])

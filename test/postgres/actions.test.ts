import { runOnPostgres } from '../support/database/engine.ts'

runOnPostgres({
  'actions/all-images': () => import('../actions/all-images.test.ts'),
  'actions/enroll-pictures': () => import('../actions/enroll-pictures.test.ts'),
  'actions/identify-stored': () => import('../actions/identify-stored.test.ts'),
  'actions/names-and-groups': () => import('../actions/names-and-groups.test.ts'),
  'actions/same-subject': () => import('../actions/same-subject.test.ts'),
})

import { runOnPostgres } from '../support/database/engine.ts'

runOnPostgres({
  'actions/enroll-pictures': () => import('../actions/enroll-pictures.test.ts'),
  'actions/same-subject': () => import('../actions/same-subject.test.ts'),
})

import { runOnPostgres } from '../support/database/engine.ts'

runOnPostgres({
  'console/billing-switch': () => import('../console/billing-switch.test.ts'),
  'console/calibration-measurement': () => import('../console/calibration-measurement.test.ts'),
  'console/calibrations': () => import('../console/calibrations.test.ts'),
  'console/lists': () => import('../console/lists.test.ts'),
  'console/confirmations': () => import('../console/confirmations.test.ts'),
  'console/log/call-failures': () => import('../console/log/call-failures.test.ts'),
  'console/keys': () => import('../console/keys.test.ts'),
  'console/forms': () => import('../console/forms.test.ts'),
  'console/pages': () => import('../console/pages.test.ts'),
  'console/auth/session': () => import('../console/auth/session.test.ts'),
  'console/subjects': () => import('../console/subjects.test.ts'),
  'console/system': () => import('../console/system.test.ts'),
  'console/auth/sign-in-throttle': () => import('../console/auth/sign-in-throttle.test.ts'),
})

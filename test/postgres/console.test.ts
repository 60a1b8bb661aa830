import { runOnPostgres } from '../support/database/engine.ts'

runOnPostgres([
  'cli/installation',
  'console/auth/held-writes',
  'console/auth/session',
  'console/auth/sign-in-throttle',
  'console/calibration-measurement',
  'console/calibrations',
  'console/confirmations',
  'console/gallery/certificates',
  'console/gallery/gallery-health',
  'console/gallery/subject-order',
  'console/keys',
  'console/log/cameras',
  'console/log/chart-reads',
  'console/log/feedback',
  'console/log/outcomes',
  'console/lists',
  'console/models/commands',
  'console/pages',
  'console/subjects',
  'console/system',
])

import type { Migration } from 'kysely'
import { accounts } from './0001-accounts.ts'
import { calls } from './0002-calls.ts'
import { guards } from './0003-guards.ts'
import { functions } from './0004-functions.ts'
import { nodes } from './0005-nodes.ts'
import { searchTexts } from './0006-search-texts.ts'
import { integrity } from './0007-integrity.ts'
import { removals } from './0008-removals.ts'
import { newKeyMarks } from './0009-new-key-marks.ts'
import { galleryCalibrations } from './0011-gallery-calibrations.ts'
import { livenessChallenges } from './0012-liveness-challenges.ts'
import { webhooks } from './0013-webhooks.ts'
import { subjectLists } from './0014-subject-lists.ts'
import { billingSwitch } from './0015-billing-switch.ts'
import { callDetails } from './0017-call-details.ts'
import { secondFactors } from './0018-second-factors.ts'
import { deletionLists } from './0019-deletion-lists.ts'
import { keyRotation } from './0022-key-rotation.ts'
import { systemHistory } from './0023-system-history.ts'
import { keyVersions } from './0024-key-versions.ts'
import { accountMoves } from './0025-account-moves.ts'
import { admitCalls } from './0026-admit-calls.ts'
import { galleryPages } from './0027-gallery-pages.ts'

/**
 * All migrations in their order. Kysely records in the database which ones were applied. A new
 * migration only adds to the schema, so that older servers can run beside newer ones.
 */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-accounts': accounts,
  '0002-calls': calls,
  '0003-guards': guards,
  '0004-functions': functions,
  '0005-nodes': nodes,
  '0006-search-texts': searchTexts,
  '0007-integrity': integrity,
  '0008-removals': removals,
  '0009-new-key-marks': newKeyMarks,
  '0011-gallery-calibrations': galleryCalibrations,
  '0012-liveness-challenges': livenessChallenges,
  '0013-webhooks': webhooks,
  '0014-subject-lists': subjectLists,
  '0015-billing-switch': billingSwitch,
  '0017-call-details': callDetails,
  '0018-second-factors': secondFactors,
  '0019-deletion-lists': deletionLists,
  '0022-key-rotation': keyRotation,
  '0023-system-history': systemHistory,
  '0024-key-versions': keyVersions,
  '0025-account-moves': accountMoves,
  '0026-admit-calls': admitCalls,
  '0027-gallery-pages': galleryPages,
}

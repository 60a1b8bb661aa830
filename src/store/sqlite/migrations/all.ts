import type { Migration } from 'kysely'
import { tenancy } from './0001-tenancy.ts'
import { money } from './0002-money.ts'
import { calls } from './0003-calls.ts'
import { galleries } from './0004-galleries.ts'
import { threshold } from './0005-threshold.ts'
import { attributeSwitches } from './0006-attribute-switches.ts'
import { faces } from './0007-faces.ts'
import { consoleUsers } from './0008-console.ts'
import { hours } from './0009-hours.ts'
import { templateGalleries } from './0010-template-galleries.ts'
import { searchTexts } from './0011-search-texts.ts'
import { integrity } from './0012-integrity.ts'
import { removals } from './0013-removals.ts'
import { newKeyMarks } from './0014-new-key-marks.ts'
import { galleryCalibrations } from './0016-gallery-calibrations.ts'
import { livenessChallenges } from './0017-liveness-challenges.ts'
import { webhooks } from './0018-webhooks.ts'
import { subjectLists } from './0019-subject-lists.ts'
import { billingSwitch } from './0020-billing-switch.ts'
import { callDetails } from './0022-call-details.ts'
import { secondFactors } from './0023-second-factors.ts'
import { deletionLists } from './0024-deletion-lists.ts'
import { keyRotation } from './0027-key-rotation.ts'
import { systemHistory } from './0028-system-history.ts'
import { chargeIndex } from './0029-charge-index.ts'
import { frozenProjects } from './0030-frozen-projects.ts'
import { galleryPages } from './0031-gallery-pages.ts'

/** All migrations in their order. Kysely records in the database which ones were applied. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-tenancy': tenancy,
  '0002-money': money,
  '0003-calls': calls,
  '0004-galleries': galleries,
  '0005-threshold': threshold,
  '0006-attribute-switches': attributeSwitches,
  '0007-faces': faces,
  '0008-console': consoleUsers,
  '0009-hours': hours,
  '0010-template-galleries': templateGalleries,
  '0011-search-texts': searchTexts,
  '0012-integrity': integrity,
  '0013-removals': removals,
  '0014-new-key-marks': newKeyMarks,
  '0016-gallery-calibrations': galleryCalibrations,
  '0017-liveness-challenges': livenessChallenges,
  '0018-webhooks': webhooks,
  '0019-subject-lists': subjectLists,
  '0020-billing-switch': billingSwitch,
  '0022-call-details': callDetails,
  '0023-second-factors': secondFactors,
  '0024-deletion-lists': deletionLists,
  '0027-key-rotation': keyRotation,
  '0028-system-history': systemHistory,
  '0029-charge-index': chargeIndex,
  '0030-frozen-projects': frozenProjects,
  '0031-gallery-pages': galleryPages,
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReadTx, Tx } from '../../../src/store/database.ts'
import { findCroppedFaces, markForNewKey } from '../../../src/store/gallery/crops.ts'
import { findMergesOfDeleted, missingDeletions } from '../../../src/store/gallery/deletion-chain.ts'
import { faceCounts, findFaceModels, findFaceOwners } from '../../../src/store/gallery/faces.ts'
import { countMatches } from '../../../src/store/gallery/feedback/match-days.ts'
import {
  findDeniedSubjects,
  limitByMatches,
  moveVerdicts,
} from '../../../src/store/gallery/feedback/match-verdicts.ts'
import { findSubjectGroups } from '../../../src/store/gallery/groups.ts'
import {
  findSubjectNames,
  findSubjects,
  findSubjectsByIds,
  touchSubjects,
} from '../../../src/store/gallery/subjects.ts'
import { findFaceTemplates, findSubjectTemplates } from '../../../src/store/gallery/templates.ts'
import { keyNames } from '../../../src/store/tenancy/key-list.ts'
import { onSqlite } from '../../support/plans/explain-reads.ts'
import { conditionOf } from '../../support/plans/plan-checks.ts'

const galleryId = 'g'
const matched = { projectId: 'p', day: '2026-01-01' }
type Lookup = (tx: ReadTx, ids: readonly string[]) => Promise<unknown>

/** The lookups by several ids, by the column that must find the rows. */
const lookups: Readonly<Record<string, Readonly<Record<string, Lookup>>>> = {
  subjectId: {
    'svc.identify: names': (tx, ids) => findSubjectNames(tx, galleryId, ids),
    'svc.identify: denials': findDeniedSubjects,
    'svc.identify: last match': (tx, ids) => touchSubjects(tx as Tx, ids, '2026'),
    'svc.identify: days': (tx, ids) => countMatches(tx as Tx, { ...matched, subjectIds: ids }),
    'svc.identify: visitors': (tx, ids) => findSubjectsByIds(tx, `${galleryId}:visitors`, ids),
    'svc.enroll, merges, replay: subjects': (tx, ids) => findSubjectsByIds(tx, galleryId, ids),
    'svc.verify: templates': findSubjectTemplates,
    'subjects: faces': faceCounts,
    'subjects: groups': findSubjectGroups,
    'subjects: models': findFaceModels,
    'subjects: crops': findCroppedFaces,
    'subjects: list': (tx, subjectIds) => findSubjects(tx, { galleryId, subjectIds, limit: 51 }),
    'deletions: matches': (tx, ids) =>
      limitByMatches(
        tx,
        // One subject is not counted.
        [...ids, 'last'].map((subjectId) => ({ subjectId })),
      ),
    'replay: deletions': (tx, ids) =>
      missingDeletions(
        tx,
        ids.map((subjectId) => ({ subjectId, deletionId: 'd', mergedInto: null })),
      ),
    'replay: merges': findMergesOfDeleted,
  },
  faceId: {
    'merges: owners': (tx, ids) => findFaceOwners(tx, galleryId, ids),
    'svc.enroll: templates': findFaceTemplates,
    'crops: keys': (tx, ids) => markForNewKey(tx as Tx, ids),
  },
  matchedId: {
    'merges: matches': (tx, matchedIds) =>
      moveVerdicts(tx as Tx, { from: 'a', to: 'b', matchedIds }),
  },
  keyId: { 'request log: keys': (tx, ids) => keyNames(tx, 'a', ids) },
}

/** A step that reads a whole table, or all rows of a gallery or an account. */
const unlimited = /\bSCAN |\((?:galleryId|accountId)=\?\)/u

// PostgreSQL selects an index by its statistics.
test('Rows are found by their ids, however many, and not by their gallery or account', () =>
  onSqlite(async ({ explain }) => {
    for (const [column, byName] of Object.entries(lookups))
      for (const [name, lookup] of Object.entries(byName))
        for (const count of [1, 2, 3, 5, 200]) {
          const ids = Array.from({ length: count }, (_, index) => `id${index}`)
          const statements = await explain((tx) => lookup(tx, ids))
          const description = `${name}, ${count} ids: ${JSON.stringify(statements, null, 2)}`
          const plans = statements.map(({ plan }) => plan).join('\n')
          assert.doesNotMatch(plans, unlimited, description)
          assert.match(plans, new RegExp(conditionOf(column), 'u'), description)
        }
  }))

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addStoredBytes } from '../../../src/store/gate/stored-responses.ts'
import { deleteOldDeliveries, expireDeliveries } from '../../../src/store/webhooks/deliveries.ts'
import { findGalleryTemplates } from '../../../src/store/gallery/calibration/gallery-templates.ts'
import { findFaces } from '../../../src/store/gallery/faces.ts'
import { findMatches } from '../../../src/store/gallery/feedback/match-verdicts.ts'
import { findGroupNames } from '../../../src/store/gallery/groups.ts'
import { findSubjectPositions, findSubjects } from '../../../src/store/gallery/subjects.ts'
import { findRetirementImpact } from '../../../src/store/gallery/retire-model.ts'
import { findExpiringKeys } from '../../../src/store/webhooks/expiring-keys.ts'
import { findWebhooks } from '../../../src/store/webhooks/webhooks.ts'
import type { Tx } from '../../../src/store/database.ts'
import { onBothEngines, onSqlite } from '../../support/plans/explain-reads.ts'
import { assertIndexed, conditionOf, sorted } from '../../support/plans/plan-checks.ts'

test('Webhooks read no deliveries but the pending ones and that of the last attempt', () =>
  onBothEngines(async ({ explain }) => {
    const [webhooks] = await explain((tx) => findWebhooks(tx, { accountId: 'a' }))
    const plan = webhooks?.plan ?? ''
    const onPending = / deliveries_(?:pending|by_state) /u
    const onLast =
      /last USING INDEX sqlite_autoindex_webhookDeliveries_1 \(eventId=|Index Cond: .*"eventId" = webhooks\."lastEventId"/u
    assert.match(plan, onPending)
    assert.match(plan, onLast)
    const reads = plan
      .split('\n')
      .filter((line) => /\b(?:SCAN|SEARCH) (?:d|last)\b|"webhookDeliveries"/u.test(line))
    assert.equal(reads.length, 2, plan)
  }))

test('Old deliveries of each state are found by an index, without those of other states', () =>
  onBothEngines(async ({ explain }) => {
    const old = { beforeMs: 1, error: 'too old' }
    for (const state of ['delivered', 'failed'] as const)
      assertIndexed(await explain((tx) => deleteOldDeliveries(tx as Tx, { ...old, state })), [
        'state',
        'queuedAtMs',
      ])
    assertIndexed(await explain((tx) => expireDeliveries(tx as Tx, old)), ['state', 'queuedAtMs'])
  }))

test('Deliveries that are given up are changed by their ids, without those that stay pending', () =>
  onSqlite(async ({ explain }) => {
    const old = { beforeMs: 1, error: 'too old' }
    const [statement] = await explain((tx) => expireDeliveries(tx as Tx, old))
    assert.match(statement?.plan ?? '', /^SEARCH webhookDeliveries .*eventId=\? AND webhookId=\?/u)
    assert.doesNotMatch(statement?.plan ?? '', /webhookId=\? AND state=\?/u)
  }))

test('The effect of a retirement is counted without a search for each template', () =>
  onSqlite(async ({ explain }) => {
    const retirement = { modelId: 'old', activeModelId: 'active' }
    const [statement] = await explain((tx) => findRetirementImpact(tx, retirement))
    assert.doesNotMatch(statement?.plan ?? 'none', /CORRELATED|^none/u, statement?.plan)
  }))

test('Keys are checked for their expiry only in projects with a webhook that receives it', () =>
  onSqlite(async ({ explain }) => {
    const filter = { nowUtc: '2026', untilUtc: '2027', noticeDays: 7, limit: 9 }
    const [statement] = await explain((tx) => findExpiringKeys(tx, filter))
    assert.match(
      statement?.plan ?? '',
      /^SEARCH keys USING INDEX keys_by_project \(projectId=\?\)/u,
    )
    // The condition is part of the list of projects, which is read once, not for each key.
    assert.match(
      statement?.sql ?? '',
      /"projectId" in \(select "projectId" from "projects" where "isFrozen" = \? and exists \(/u,
    )
  }))

test('The stored responses of a project are added up from an index, without those of others', () =>
  onBothEngines(async ({ explain }) => {
    const step = { projectId: 'p', beforeMs: 9, restBytes: 5 }
    const [sum] = await explain((tx) => addStoredBytes(tx, step))
    // The end of a step and its rows.
    assert.equal(sum?.plan.match(/ attempts_stored /gu)?.length, 2, sum?.plan)
    assert.doesNotMatch(sum?.plan ?? '', sorted)
    assert.match(sum?.plan ?? '', new RegExp(conditionOf('windowStartMs'), 'u'))
  }))

test('A page and the matches of a call read no list of all expired subjects', () =>
  onBothEngines(async ({ explain }) => {
    const page = { galleryId: 'g', unexpiredAtUtc: '2026', limit: 51 }
    const ofModel = { galleryId: 'g', modelId: 'm', nowUtc: '2026' }
    const statements = await explain(async (tx) => {
      await findSubjects(tx, page)
      await findSubjectPositions(tx, { ...page, text: 't' })
      await findFaces(tx, page)
      await findMatches(tx, { projectId: 'p', galleryId: 'g', requestId: 'r' }, 1)
      await findGroupNames(tx, 'g', ['n', 'o'], '2026')
      await findGalleryTemplates(tx, ofModel, { afterFaceId: 'f', limit: 9 })
    })
    assert.equal(statements.length, 6)
    for (const { sql, plan } of statements)
      assert.doesNotMatch(plan, /\bsubjects_expir/u, `${sql}\n${plan}`)
  }))
